import { hash } from "node:crypto";
import { UniqueViolation } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../errors.ts";
import { rateLimited } from "../../http/rate-limit.ts";
import { addressBucket } from "../../net/address-bucket.ts";
import { normalizeEmail } from "../accounts/email.ts";
import { findAccountByEmail } from "../accounts/queries.ts";
import { checkNewPassword, type PasswordWork } from "./password-work.ts";
import {
  deleteSessionsOfAccount,
  findPasswordHash,
  setCredentials,
  takeLoginLink,
} from "./session-queries.ts";
import { createSession, type Session, type Visitor } from "./sessions.ts";

/** A minute. Guessing from many addresses at one account meets the second. */
const triesPerAddress = 10;
const triesPerAccount = 30;

export interface Credentials {
  email: string;
  password: string;
}

/** The answer is the same, and as slow, whether the account is unknown or the password wrong. */
export async function signIn(
  deps: Deps,
  passwords: PasswordWork,
  given: Credentials,
  visitor: Visitor,
): Promise<string> {
  await throttle(deps, visitor.address);
  const email = normalizeEmail(given.email);
  await spend(deps, `sign-in-account:${hash("sha256", email)}`, triesPerAccount);
  const account = await deps.db.get(findAccountByEmail, { email });
  const isRight = await passwords.verify(given.password, account?.password_hash ?? null);
  if (account === null || !isRight) throw wrongCredentials();
  return deps.db.transact((tx) => createSession(tx, deps.now(), account.id, visitor));
}

/** Exchanges the link of the first start for a session; whoever holds it says how they will sign in from then on. */
export async function claim(
  deps: Deps,
  passwords: PasswordWork,
  given: Credentials & { token: string },
  visitor: Visitor,
): Promise<string> {
  await throttle(deps, visitor.address);
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
  visitor: Visitor,
): Promise<string> {
  await throttle(deps, visitor.address);
  const { accountId } = session;
  const email = normalizeEmail(given.email);
  checkNewPassword(given.password);
  const known = await deps.db.get(findPasswordHash, { accountId });
  if (!(await passwords.verify(given.currentPassword, known?.password_hash ?? null))) {
    throw invalid("currentPassword", "is not right");
  }
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

function throttle(deps: Deps, address: string): Promise<void> {
  return spend(deps, `sign-in:${addressBucket(address)}`, triesPerAddress);
}

async function spend(deps: Deps, bucket: string, limit: number): Promise<void> {
  const hit = await deps.limiter.hit(bucket, limit);
  if (!hit.isAllowed) throw rateLimited(hit);
}

async function withFreeEmail<T>(email: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UniqueViolation) throw invalid("email", `is taken: ${email}`);
    throw error;
  }
}

function wrongCredentials(): AppError {
  return new AppError("UNAUTHORIZED", "The e-mail address or the password is not right.", {
    suggestion: "Check both and try again.",
  });
}

function usedLink(): AppError {
  return new AppError("FORBIDDEN", "This link was used already, or is older than 24 hours.", {
    suggestion: "Sign in with your e-mail address and password.",
  });
}
