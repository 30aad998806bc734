import { hash } from "node:crypto";
import { UniqueViolation } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../errors.ts";
import { normalizeEmail } from "../accounts/email.ts";
import { ownerEmail } from "../accounts/first-start.ts";
import { findAccountByEmail } from "../accounts/queries.ts";
import { getStep, openStep, takeStep } from "./factors/steps.ts";
import { checkCode } from "./factors/totp.ts";
import { findTotp } from "./factors/totp-queries.ts";
import { checkNewPassword, type PasswordWork } from "./password-work.ts";
import {
  deleteSessionsOfAccount,
  findLoginLink,
  findPasswordHash,
  setCredentials,
  takeLoginLink,
} from "./session-queries.ts";
import { createSession, type Entrant, type Session, type Visitor } from "./sessions.ts";
import { spend, throttleAccount, throttleAddress } from "./throttle.ts";

const codesPerAccount = 10;

export interface Credentials {
  email: string;
  password: string;
}

/** In, or one step further: the ticket goes with the one-time code. */
export type SignedIn = { accountId: string } | { ticket: string };

/** The answer is the same, and as slow, whether the account is unknown or the password wrong. */
export async function signIn(
  deps: Deps,
  passwords: PasswordWork,
  given: Credentials,
  visitor: Entrant,
): Promise<SignedIn> {
  await throttleAddress(deps, visitor.address);
  const email = normalizeEmail(given.email);
  await throttleAccount(deps, email);
  const account = await deps.db.get(findAccountByEmail, { email });
  const isRight = await passwords.verify(given.password, account?.password_hash ?? null);
  if (account === null || !isRight) throw wrongCredentials();
  const accountId = account.id;
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const totp = await tx.get(findTotp, { accountId });
    const needsCode = totp !== null && totp.confirmed_at !== null;
    return needsCode
      ? { ticket: await openStep(tx, now, { kind: "code", accountId, challenge: "" }) }
      : createSession(tx, now, accountId, visitor);
  });
}

export async function signInWithCode(
  deps: Deps,
  given: { ticket: string; code: string },
  visitor: Entrant,
): Promise<SignedIn> {
  await throttleAddress(deps, visitor.address);
  const now = deps.now();
  const { accountId } = await getStep(deps.db, now, "code", given.ticket);
  if (accountId === null) throw new Error("a code is asked for without an account");
  await spend(deps, `sign-in-code:${accountId}`, codesPerAccount);
  if (!(await checkCode(deps, accountId, given.code))) throw wrongCode();
  return deps.db.transact(async (tx) => {
    await takeStep(tx, now, "code", given.ticket);
    return createSession(tx, now, accountId, visitor);
  });
}

/** Whose link it is, for the page that asks for the password; null for the first start's, which has no address. */
export async function lookAtLink(deps: Deps, token: string, visitor: Visitor): Promise<string | null> {
  await throttleAddress(deps, visitor.address);
  const link = await deps.db.get(findLoginLink, { tokenHash: hash("sha256", token), now: deps.now() });
  if (link === null) throw usedLink();
  return link.email === ownerEmail ? null : link.email;
}

/**
 * Exchanges a link of the operator for a session; whoever holds it says how they will sign in from then on. It needs
 * no second factor, which may be what was lost, and ends every other session.
 */
export async function claim(
  deps: Deps,
  passwords: PasswordWork,
  given: Credentials & { token: string },
  visitor: Entrant,
): Promise<SignedIn> {
  await throttleAddress(deps, visitor.address);
  const email = normalizeEmail(given.email);
  checkNewPassword(given.password);
  const passwordHash = await passwords.hash(given.password);
  const now = deps.now();
  return withFreeEmail(email, () =>
    deps.db.transact(async (tx) => {
      const link = await tx.get(takeLoginLink, { tokenHash: hash("sha256", given.token), now });
      if (link === null) throw usedLink();
      const accountId = link.account_id;
      await tx.run(setCredentials, { accountId, email, passwordHash, now });
      await tx.run(deleteSessionsOfAccount, { accountId });
      return createSession(tx, now, accountId, visitor);
    }),
  );
}

/** Ends every other session: whoever knew the old password is out. */
export async function changeCredentials(
  deps: Deps,
  passwords: PasswordWork,
  session: Session,
  given: Credentials & { currentPassword: string },
  visitor: Entrant,
): Promise<SignedIn> {
  const { accountId } = session;
  const email = normalizeEmail(given.email);
  checkNewPassword(given.password);
  await confirmPassword(deps, passwords, session, given.currentPassword, visitor);
  const passwordHash = await passwords.hash(given.password);
  const now = deps.now();
  return withFreeEmail(email, () =>
    deps.db.transact(async (tx) => {
      await tx.run(setCredentials, { accountId, email, passwordHash, now });
      await tx.run(deleteSessionsOfAccount, { accountId });
      return createSession(tx, now, accountId, visitor);
    }),
  );
}

/** A session that was left open must not be enough to change how its owner signs in. */
export async function confirmPassword(
  deps: Deps,
  passwords: PasswordWork,
  session: Session,
  password: string,
  visitor: Visitor,
): Promise<void> {
  await throttleAddress(deps, visitor.address);
  await throttleAccount(deps, session.email);
  const known = await deps.db.get(findPasswordHash, { accountId: session.accountId });
  if (!(await passwords.verify(password, known?.password_hash ?? null))) {
    throw new AppError("VALIDATION_ERROR", "The current password is not right.", {
      details: [{ path: "currentPassword", message: "is not right" }],
    });
  }
}

async function withFreeEmail<T>(email: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UniqueViolation) throw invalid("email", `is taken: ${email}`);
    throw error;
  }
}

export function wrongCredentials(): AppError {
  return new AppError("UNAUTHORIZED", "The e-mail address or the password is not right.", {
    suggestion: "Check both and try again.",
  });
}

function wrongCode(): AppError {
  return new AppError("UNAUTHORIZED", "This code is not right, or was used already.", {
    suggestion: "Wait for the next one, or use a recovery code.",
  });
}

function usedLink(): AppError {
  return new AppError("FORBIDDEN", "This link was used already, or is older than 24 hours.", {
    suggestion: "Sign in with your e-mail address and password.",
  });
}
