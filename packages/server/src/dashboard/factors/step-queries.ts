import type { SignInStepTable } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

interface StepParams {
  tokenHash: string;
  kind: SignInStepTable["kind"];
  now: number;
}

export const insertStep = statement((q, p: SignInStepTable) =>
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

/** The row goes with its use: an answer to a challenge is taken once. */
export const takeStep = statement((q, p: StepParams) =>
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
