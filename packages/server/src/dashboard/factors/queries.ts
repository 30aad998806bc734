import { PASSKEYS_MAX } from "@upstow/contract";
import type { PasskeyRow, SignInStepRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

interface OfAccount {
  accountId: string;
}

export const findTotp = statement((q, p: OfAccount) =>
  q.selectFrom("totp").selectAll().where("account_id", "=", p.accountId),
);

/** Until it is confirmed, starting again replaces it; no row if a confirmed one exists. */
export const startTotp = statement((q, p: OfAccount & { sealed: string }) =>
  q
    .insertInto("totp")
    .values({
      account_id: p.accountId,
      secret_sealed: p.sealed,
      confirmed_at: null,
      last_step: 0,
      failures: 0,
      next_try_at: 0,
    })
    .onConflict((conflict) =>
      conflict
        .column("account_id")
        .doUpdateSet({ secret_sealed: p.sealed })
        .where("totp.confirmed_at", "is", null),
    )
    .returning("account_id"),
);

/** Only the secret that the code was checked against: another page may have started over meanwhile. */
export const confirmTotp = statement((q, p: OfAccount & { sealed: string; now: number }) =>
  q
    .updateTable("totp")
    .set({ confirmed_at: p.now })
    .where("account_id", "=", p.accountId)
    .where("secret_sealed", "=", p.sealed)
    .where("confirmed_at", "is", null)
    .returning("account_id"),
);

export const deleteTotp = statement((q, p: OfAccount) =>
  q.deleteFrom("totp").where("account_id", "=", p.accountId),
);

/** Counted as wrong before it is checked, so that parallel guesses are no faster. */
export const countTry = statement((q, p: OfAccount & { seen: number; failures: number; nextTryAt: number }) =>
  q
    .updateTable("totp")
    .set({ failures: p.failures, next_try_at: p.nextTryAt })
    .where("account_id", "=", p.accountId)
    .where("failures", "=", p.seen),
);

/** Changes no row if a code of this or a later time step was already used. */
export const useStep = statement((q, p: OfAccount & { step: number }) =>
  q
    .updateTable("totp")
    .set({ last_step: p.step, failures: 0, next_try_at: 0 })
    .where("account_id", "=", p.accountId)
    .where("last_step", "<", p.step),
);

export const forgetFailures = statement((q, p: OfAccount) =>
  q.updateTable("totp").set({ failures: 0, next_try_at: 0 }).where("account_id", "=", p.accountId),
);

export const insertRecoveryCode = statement((q, p: OfAccount & { codeHash: string }) =>
  q.insertInto("recovery_code").values({ account_id: p.accountId, code_hash: p.codeHash }),
);

export const takeRecoveryCode = statement((q, p: OfAccount & { codeHash: string }) =>
  q.deleteFrom("recovery_code").where("account_id", "=", p.accountId).where("code_hash", "=", p.codeHash),
);

export const deleteRecoveryCodes = statement((q, p: OfAccount) =>
  q.deleteFrom("recovery_code").where("account_id", "=", p.accountId),
);

// bounded: one set per account
export const countRecoveryCodes = statement((q, p: OfAccount) =>
  q
    .selectFrom("recovery_code")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("account_id", "=", p.accountId),
);

export const listTotps = statement((q, p: { after: string; take: number }) =>
  q.selectFrom("totp").selectAll().where("account_id", ">", p.after).orderBy("account_id").limit(p.take),
);

/** Guarded by the value read, because starting over meanwhile creates another secret. */
export const resealTotp = statement((q, p: OfAccount & { sealed: string; resealed: string }) =>
  q
    .updateTable("totp")
    .set({ secret_sealed: p.resealed })
    .where("account_id", "=", p.accountId)
    .where("secret_sealed", "=", p.sealed),
);

export const insertPasskey = statement((q, p: Omit<PasskeyRow, "last_used_at">) =>
  q.insertInto("passkey").values({
    id: p.id,
    account_id: p.account_id,
    credential_id: p.credential_id,
    public_key: p.public_key,
    sign_count: p.sign_count,
    name: p.name,
    created_at: p.created_at,
    last_used_at: null,
  }),
);

export const listPasskeys = statement((q, p: { accountId: string }) =>
  q
    .selectFrom("passkey")
    .select(["id", "credential_id", "name", "created_at", "last_used_at"])
    .where("account_id", "=", p.accountId)
    .orderBy("id")
    .limit(PASSKEYS_MAX),
);

export const findPasskey = statement((q, p: { credentialId: string }) =>
  q.selectFrom("passkey").selectAll().where("credential_id", "=", p.credentialId),
);

/** A counter that does not grow indicates a cloned key; keys that never count stay at zero. */
export const usePasskey = statement((q, p: { id: string; signCount: number; now: number }) =>
  q
    .updateTable("passkey")
    .set({ sign_count: p.signCount, last_used_at: p.now })
    .where("id", "=", p.id)
    .where((where) => where.or([where("sign_count", "<", p.signCount), where("sign_count", "=", 0)])),
);

export const deletePasskeysOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("passkey").where("account_id", "=", p.accountId),
);

export const deletePasskey = statement((q, p: { id: string; accountId: string }) =>
  q
    .deleteFrom("passkey")
    .where("id", "=", p.id)
    .where("account_id", "=", p.accountId)
    .returning(["id", "name"]),
);

interface StepParams {
  tokenHash: string;
  kind: SignInStepRow["kind"];
  now: number;
}

export const insertStep = statement((q, p: SignInStepRow) =>
  q.insertInto("sign_in_step").values({
    token_hash: p.token_hash,
    kind: p.kind,
    account_id: p.account_id,
    challenge: p.challenge,
    expires_at: p.expires_at,
  }),
);

export const findStep = statement((q, p: StepParams) =>
  q
    .selectFrom("sign_in_step")
    .select(["account_id as accountId", "challenge"])
    .where("token_hash", "=", p.tokenHash)
    .where("kind", "=", p.kind)
    .where("expires_at", ">", p.now),
);

/** Deletes the row on use, so that a challenge can be answered only once. */
export const takeStepRow = statement((q, p: StepParams) =>
  q
    .deleteFrom("sign_in_step")
    .where("token_hash", "=", p.tokenHash)
    .where("kind", "=", p.kind)
    .where("expires_at", ">", p.now)
    .returning(["account_id as accountId", "challenge"]),
);

export const deleteStepsOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("sign_in_step").where("account_id", "=", p.accountId),
);

export const deleteEndedSteps = statement((q, p: { now: number }) =>
  q.deleteFrom("sign_in_step").where("expires_at", "<=", p.now),
);
