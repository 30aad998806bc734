import { hash } from "node:crypto";
import { type Queryable, UniqueViolation } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import { normalizeEmail, ownerEmail } from "../projects/accounts/accounts.ts";
import { record } from "../projects/audit/record.ts";
import { deletePasskey, deletePasskeysOfAccount, deleteStepsOfAccount } from "./factors/queries.ts";
import { endCodes } from "./factors/totp.ts";
import { checkNewPassword, type PasswordWork } from "./password-work.ts";
import {
  deleteLoginLinksOfAccount,
  deleteSessionsOfAccount,
  findAccountById,
  findLoginLink,
  findPasswordHash,
  holdPassword,
  recoverCredentials,
  setCredentials,
  takeLoginLink,
} from "./queries.ts";
import { authorOf, createSession, type Entrant, type Session, type Visitor } from "./sessions.ts";
import type { SignedIn, SignInCredentials } from "./sign-in.ts";
import { throttleAddress, throttleConfirmation } from "./throttle.ts";

/** The link's account, for the page that asks for the password; null for the first start's link, which has no email. */
export async function lookAtLink(deps: Deps, token: string, visitor: Visitor): Promise<string | null> {
  await throttleAddress(deps, visitor.address, "link");
  const link = await deps.db.get(findLoginLink, { tokenHash: hash("sha256", token), now: deps.now() });
  if (link === null) throw usedLink();
  return link.email === ownerEmail ? null : link.email;
}

/**
 * Exchanges an operator's link for a session; its holder sets new sign-in credentials. It needs no second factor, which
 * may be what was lost. All other credentials are revoked, because they may belong to someone who prepared or took over
 * the account.
 */
export async function claim(
  deps: Deps,
  passwords: PasswordWork,
  given: SignInCredentials & { token: string },
  visitor: Entrant,
): Promise<SignedIn> {
  await throttleAddress(deps, visitor.address, "link");
  const email = normalizeEmail(given.email);
  checkNewPassword(given.password);
  const now = deps.now();
  const tokenHash = hash("sha256", given.token);
  // Hashing is expensive, so only the holder of a link may trigger it.
  if ((await deps.db.get(findLoginLink, { tokenHash, now })) === null) throw usedLink();
  const passwordHash = await passwords.hash(given.password);
  return withFreeEmail(email, () =>
    deps.db.transact(async (tx) => {
      const link = await tx.get(takeLoginLink, { tokenHash, now });
      if (link === null) throw usedLink();
      const accountId = link.account_id;
      const before = await tx.get(findAccountById, { id: accountId });
      await tx.run(recoverCredentials, { accountId, email, passwordHash, now });
      await record(tx, now, authorOf({ accountId, email }, visitor), {
        action: "account.claimed",
        target: { kind: "account", id: accountId, label: email },
        accountId,
        before: { email: before?.email, password_hash: before?.password_hash },
        after: { email, password_hash: passwordHash },
      });
      await endSessions(tx, accountId);
      await endCodes(tx, accountId);
      await tx.run(deletePasskeysOfAccount, { accountId });
      await tx.run(deleteLoginLinksOfAccount, { accountId });
      return createSession(tx, now, accountId, visitor, "login link");
    }),
  );
}

/**
 * Without a new password the old one is kept. Ends every other session, so anyone who knew the old password is signed
 * out. They may have added a passkey, so the listed passkeys are removed too.
 */
export async function changeCredentials(
  deps: Deps,
  passwords: PasswordWork,
  session: Session,
  given: { email: string; password?: string; currentPassword: string; removePasskeys?: "all" | string[] },
  visitor: Entrant,
): Promise<SignedIn> {
  const { accountId } = session;
  const email = normalizeEmail(given.email);
  if (given.password !== undefined) checkNewPassword(given.password);
  const oldHash = await confirmPassword(deps, passwords, session, given.currentPassword);
  const passwordHash = given.password === undefined ? oldHash : await passwords.hash(given.password);
  const now = deps.now();
  return withFreeEmail(email, () =>
    deps.db.transact(async (tx) => {
      if ((await tx.run(holdPassword, { accountId, passwordHash: oldHash })) === 0) throw wrongPassword();
      await tx.run(setCredentials, { accountId, email, passwordHash, now });
      await endSessions(tx, accountId);
      await removePasskeys(tx, accountId, given.removePasskeys ?? []);
      await record(tx, now, deps.author, {
        action: "account.updated",
        target: { kind: "account", id: accountId, label: email },
        accountId,
        before: { email: session.email, password_hash: oldHash, passkeys: given.removePasskeys },
        after: { email, password_hash: passwordHash },
      });
      return createSession(tx, now, accountId, visitor, "password");
    }),
  );
}

/** Ignores passkeys that are already gone or belong to someone else. */
async function removePasskeys(tx: Queryable, accountId: string, which: "all" | string[]): Promise<void> {
  if (which === "all") await tx.run(deletePasskeysOfAccount, { accountId });
  else for (const id of which) await tx.run(deletePasskey, { id, accountId });
}

/** Ends pending sign-ins first: one that was just completed has a session by then, which is ended too. */
async function endSessions(tx: Queryable, accountId: string): Promise<void> {
  await tx.run(deleteStepsOfAccount, { accountId });
  await tx.run(deleteSessionsOfAccount, { accountId });
}

/** An unattended session must not be enough to change how its owner signs in. Returns what was compared. */
export async function confirmPassword(
  deps: Deps,
  passwords: PasswordWork,
  session: Session,
  password: string,
): Promise<string> {
  await throttleConfirmation(deps, session.id);
  const known = await deps.db.get(findPasswordHash, { accountId: session.accountId });
  const passwordHash = known?.password_hash ?? null;
  const isRight = await passwords.verify(password, passwordHash, "known");
  if (passwordHash === null || !isRight) throw wrongPassword();
  return passwordHash;
}

async function withFreeEmail<T>(email: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UniqueViolation) throw invalid("email", `is taken: ${email}`);
    throw error;
  }
}

function wrongPassword(): AppError {
  return new AppError("VALIDATION_ERROR", "The current password is incorrect.", {
    details: [{ path: "currentPassword", message: "is incorrect" }],
  });
}

function usedLink(): AppError {
  return new AppError("FORBIDDEN", "This link was already used, or is older than 24 hours.", {
    suggestion:
      "If you have a password, sign in with it. If not, create a new link on the server: `upstow account login-link`.",
  });
}
