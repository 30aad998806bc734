import { hash } from "node:crypto";
import type { TierName } from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import { unlessReadOnly } from "../http/read-only.ts";
import type { Author } from "../kernel/actor.ts";
import { AppError } from "../kernel/errors.ts";
import { createId } from "../kernel/ids.ts";
import { record } from "../projects/audit/record.ts";
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionByToken,
  findAccountById,
  findSessionByToken,
  insertSession,
  touchSession,
} from "./queries.ts";

const dayMs = 24 * 60 * 60 * 1000;
const idleMs = 14 * dayMs;
const longestMs = 60 * dayMs;
const touchEveryMs = 5 * 60 * 1000;

/** A signed-in user. */
export interface Session {
  id: string;
  accountId: string;
  email: string;
  tier: TierName;
  mayOwnProjects: boolean;
}

/** Someone who wants to sign in, as far as the request shows. */
export interface Visitor {
  address: string;
  userAgent: string;
  /** The browser's proof of an earlier sign-in; untrusted. */
  device: string | null;
}

/** A visitor with their new token, and the untrusted one their browser sent. */
export interface Entrant extends Visitor {
  token: string;
  oldToken: string;
}

export function authorOf(
  { accountId, email }: Pick<Session, "accountId" | "email">,
  { address, userAgent }: Pick<Visitor, "address" | "userAgent">,
): Author {
  return { kind: "user", id: accountId, name: email, address, userAgent };
}

export type SignInMethod = "password" | "password and code" | "passkey" | "login link" | "invitation";

/** Ends the session the browser came with. The database never sees a token. */
export async function createSession(
  tx: Queryable,
  now: number,
  accountId: string,
  entrant: Omit<Entrant, "device">,
  method: SignInMethod,
): Promise<{ accountId: string }> {
  await tx.run(deleteSessionByToken, { tokenHash: hash("sha256", entrant.oldToken) });
  await tx.run(deleteEndedSessions, { now });
  const id = createId(now);
  await tx.run(insertSession, {
    id,
    token_hash: hash("sha256", entrant.token),
    account_id: accountId,
    user_agent: entrant.userAgent.slice(0, 300),
    address: entrant.address,
    created_at: now,
    last_seen_at: now,
    expires_at: now + idleMs,
  });
  const account = await tx.get(findAccountById, { id: accountId });
  await record(tx, now, authorOf({ accountId, email: account?.email ?? "" }, entrant), {
    action: "session.created",
    target: { kind: "session", id },
    accountId,
    after: { method },
  });
  return { accountId };
}

export async function endSession(
  { db, now, author }: Pick<Deps, "db" | "now" | "author">,
  { id, accountId }: Pick<Session, "id" | "accountId">,
): Promise<boolean> {
  return db.transact(async (tx) => {
    if ((await tx.get(deleteSession, { id, accountId })) === null) return false;
    const target = { kind: "session", id } as const;
    await record(tx, now(), author, { action: "session.ended", target, accountId });
    return true;
  });
}

export async function findSession(deps: Pick<Deps, "db" | "now">, token: string): Promise<Session | null> {
  const now = deps.now();
  const found = await deps.db.get(findSessionByToken, { tokenHash: hash("sha256", token), now });
  if (found === null) return null;
  if (now - found.lastSeenAt >= touchEveryMs) {
    const expiresAt = Math.min(now + idleMs, found.createdAt + longestMs);
    await unlessReadOnly(deps.db.run(touchSession, { id: found.id, now, expiresAt }));
  }
  const { id, accountId, email, tier } = found;
  return { id, accountId, email, tier, mayOwnProjects: found.mayOwnProjects === 1 };
}

export function signedOut(): AppError {
  return new AppError("UNAUTHORIZED", "You are not signed in.", { suggestion: "Sign in and try again." });
}
