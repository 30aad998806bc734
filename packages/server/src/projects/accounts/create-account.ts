import type { TierName } from "@upstow/contract";
import type { AccountTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { hashPassword } from "../../kernel/security/passwords.ts";
import { normalizeEmail, ownerEmail } from "./email.ts";
import { insertAccount } from "./queries.ts";

export interface NewAccount {
  email: string;
  /** Null: the account cannot sign in with a password. */
  password: string | null;
  tier: TierName;
}

export async function createAccount(
  deps: Pick<Deps, "db" | "now">,
  wanted: NewAccount,
): Promise<AccountTable> {
  const email = normalizeEmail(wanted.email);
  // The first start makes this one, also where an operator's command came first.
  if (email === ownerEmail) throw emailTaken(email);
  if (wanted.password === "") throw invalid("password", "must not be empty");
  const passwordHash = wanted.password === null ? null : await hashPassword(wanted.password);
  const now = deps.now();
  const [account] = await deps.db.change(insertAccount, {
    id: createId(now),
    email,
    passwordHash,
    tier: wanted.tier,
    now,
  });
  if (account === undefined) throw emailTaken(email);
  return account;
}

function emailTaken(email: string): AppError {
  return new AppError("VALIDATION_ERROR", `There already is an account ${email}.`, {
    suggestion: "Use it, or choose another address.",
    details: [{ path: "email", message: "is taken" }],
  });
}
