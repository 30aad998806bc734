import { statement } from "../../db/statement.ts";

interface OfAccount {
  accountId: string;
}

export const findTotp = statement((q, p: OfAccount) =>
  q.selectFrom("totp").selectAll().where("account_id", "=", p.accountId),
);

/** Until it is confirmed, starting again replaces it; no row where one guards the account already. */
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

/** Only the key that the code was made with: another page may have started again in the meantime. */
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

/** Counted as wrong before it is looked at, so that guesses at the same moment are no faster than others. */
export const countTry = statement((q, p: OfAccount & { seen: number; failures: number; nextTryAt: number }) =>
  q
    .updateTable("totp")
    .set({ failures: p.failures, next_try_at: p.nextTryAt })
    .where("account_id", "=", p.accountId)
    .where("failures", "=", p.seen),
);

/** No row changes when the code of this time step, or a later one, was used before. */
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

export const countRecoveryCodes = statement((q, p: OfAccount) =>
  q
    .selectFrom("recovery_code")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("account_id", "=", p.accountId),
);

export const listTotps = statement((q, p: { after: string; take: number }) =>
  q.selectFrom("totp").selectAll().where("account_id", ">", p.after).orderBy("account_id").limit(p.take),
);

/** Guarded by what was read: who starts again meanwhile has another secret. */
export const resealTotp = statement((q, p: OfAccount & { sealed: string; resealed: string }) =>
  q
    .updateTable("totp")
    .set({ secret_sealed: p.resealed })
    .where("account_id", "=", p.accountId)
    .where("secret_sealed", "=", p.sealed),
);
