import { hash, randomBytes } from "node:crypto";
import type { Queryable } from "../../db/database.ts";
import type { SignInStepRow } from "../../db/schema.ts";
import { AppError } from "../../kernel/errors.ts";
import { deleteEndedSteps, findStep as findStepRow, insertStep, takeStepRow } from "./queries.ts";

const stepMs = 5 * 60 * 1000;

type Kind = SignInStepRow["kind"];

/** Stores the state of a sign-in; the holder of the ticket continues from there. */
export async function openStep(
  tx: Queryable,
  now: number,
  step: { kind: Kind; accountId: string | null; challenge: string },
): Promise<string> {
  const ticket = randomBytes(32).toString("base64url");
  await tx.run(deleteEndedSteps, { now });
  await tx.run(insertStep, {
    token_hash: hash("sha256", ticket),
    kind: step.kind,
    account_id: step.accountId,
    challenge: step.challenge,
    expires_at: now + stepMs,
  });
  return ticket;
}

export async function getStep(db: Queryable, now: number, kind: Kind, ticket: string) {
  const found = await db.get(findStepRow, { tokenHash: hash("sha256", ticket), kind, now });
  if (found === null) throw stepEnded();
  return found;
}

/** In a transaction, so that a ticket can be used only once. */
export async function takeStep(tx: Queryable, now: number, kind: Kind, ticket: string) {
  const taken = await tx.get(takeStepRow, { tokenHash: hash("sha256", ticket), kind, now });
  if (taken === null) throw stepEnded();
  return taken;
}

export function stepEnded(): AppError {
  return new AppError("FORBIDDEN", "This step took longer than five minutes or was already completed.", {
    suggestion: "Start again.",
  });
}
