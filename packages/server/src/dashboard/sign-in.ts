import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";
import { normalizeEmail } from "../projects/accounts/accounts.ts";
import { findAccountByEmail } from "../projects/accounts/queries.ts";
import { findTotp } from "./factors/queries.ts";
import { getStep, openStep, takeStep } from "./factors/steps.ts";
import { checkCode } from "./factors/totp.ts";
import type { PasswordWork } from "./password-work.ts";
import { holdPassword } from "./queries.ts";
import { findKnownDevice } from "./session/visitor.ts";
import { createSession, type Entrant } from "./sessions.ts";
import { spend, throttleAddress, throttlePassword } from "./throttle.ts";

const codesPerAccount = 10;

export interface SignInCredentials {
  email: string;
  password: string;
}

/** Signed in, or a ticket to send with the one-time code. */
export type SignedIn = { accountId: string } | { ticket: string };

/** The response is the same, and equally slow, whether the account is unknown or the password wrong. */
export async function signIn(
  deps: Deps,
  passwords: PasswordWork,
  given: SignInCredentials,
  visitor: Entrant,
): Promise<SignedIn> {
  const email = normalizeEmail(given.email);
  const device = await findKnownDevice(deps, email, visitor.device);
  await throttlePassword(deps, { address: visitor.address, device }, email);
  const account = await deps.db.get(findAccountByEmail, { email });
  const passwordHash = account?.password_hash ?? null;
  const isRight = await passwords.verify(
    given.password,
    passwordHash,
    device === null ? "stranger" : "known",
  );
  if (account === null || passwordHash === null || !isRight) throw wrongCredentials();
  const accountId = account.id;
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    // Checking takes a while, and a password change in the meantime has ended all sessions.
    if ((await tx.run(holdPassword, { accountId, passwordHash })) === 0) throw wrongCredentials();
    const totp = await tx.get(findTotp, { accountId });
    const needsCode = totp !== null && totp.confirmed_at !== null;
    return needsCode
      ? { ticket: await openStep(tx, now, { kind: "code", accountId, challenge: "" }) }
      : createSession(tx, now, accountId, visitor, "password");
  });
}

export async function signInWithCode(
  deps: Deps,
  given: { ticket: string; code: string },
  visitor: Entrant,
): Promise<SignedIn> {
  await throttleAddress(deps, visitor.address, "code");
  const now = deps.now();
  const { accountId } = await getStep(deps.db, now, "code", given.ticket);
  if (accountId === null) throw new Error("a code is asked for without an account");
  await spend(deps, `sign-in-code:${accountId}`, codesPerAccount);
  if (!(await checkCode(deps, accountId, given.code))) throw wrongCode();
  return deps.db.transact(async (tx) => {
    await takeStep(tx, now, "code", given.ticket);
    return createSession(tx, now, accountId, visitor, "password and code");
  });
}

export function wrongCredentials(): AppError {
  return new AppError("UNAUTHORIZED", "Incorrect email address or password.", {
    suggestion: "Check both and try again.",
  });
}

function wrongCode(): AppError {
  return new AppError("UNAUTHORIZED", "This code is wrong or was already used.", {
    suggestion: "Wait for the next one, or use a recovery code.",
  });
}
