import { SHORT_LIST_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import type { ConsoleSessionTable } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

export const insertSession = statement((q, p: ConsoleSessionTable) =>
  q.insertInto("console_session").values({
    id: p.id,
    token_hash: p.token_hash,
    account_id: p.account_id,
    user_agent: p.user_agent,
    address: p.address,
    created_at: p.created_at,
    last_seen_at: p.last_seen_at,
    expires_at: p.expires_at,
  }),
);

export const findSessionByToken = statement((q, p: { tokenHash: string; now: number }) =>
  q
    .selectFrom("console_session")
    .innerJoin("account", "account.id", "console_session.account_id")
    .where("console_session.token_hash", "=", p.tokenHash)
    .where("console_session.expires_at", ">", p.now)
    .select([
      "console_session.id as id",
      "console_session.created_at as createdAt",
      "console_session.last_seen_at as lastSeenAt",
      "account.id as accountId",
      "account.email as email",
      "account.tier as tier",
      "account.may_own_projects as mayOwnProjects",
    ]),
);

export const listSessions = statement((q, p: { accountId: string; now: number }) =>
  q
    .selectFrom("console_session")
    .select(["id", "user_agent", "address", "created_at", "last_seen_at"])
    .where("account_id", "=", p.accountId)
    .where("expires_at", ">", p.now)
    .orderBy("id", "desc")
    .limit(SHORT_LIST_MAX),
);

export const touchSession = statement((q, p: { id: string; now: number; expiresAt: number }) =>
  q
    .updateTable("console_session")
    .set({ last_seen_at: p.now, expires_at: p.expiresAt })
    .where("id", "=", p.id),
);

export const deleteSession = statement((q, p: { id: string; accountId: string }) =>
  q.deleteFrom("console_session").where("id", "=", p.id).where("account_id", "=", p.accountId),
);

export const deleteSessionByToken = statement((q, p: { tokenHash: string }) =>
  q.deleteFrom("console_session").where("token_hash", "=", p.tokenHash),
);

export const deleteSessionsOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("console_session").where("account_id", "=", p.accountId),
);

/** Whether it still lasts, for what outlives a request. */
export const findLastingSession = statement((q, p: { id: string; now: number }) =>
  q.selectFrom("console_session").select("id").where("id", "=", p.id).where("expires_at", ">", p.now),
);

export const deleteEndedSessions = statement((q, p: { now: number }) =>
  q.deleteFrom("console_session").where("expires_at", "<=", p.now),
);

export const findLoginLink = statement((q, p: { tokenHash: string; now: number }) =>
  q
    .selectFrom("login_link")
    .innerJoin("account", "account.id", "login_link.account_id")
    .select("account.email as email")
    .where("login_link.token_hash", "=", p.tokenHash)
    .where("login_link.expires_at", ">", p.now),
);

/** The row goes with its use, so that of two who follow the link only one gets in. */
export const takeLoginLink = statement((q, p: { tokenHash: string; now: number }) =>
  q
    .deleteFrom("login_link")
    .where("token_hash", "=", p.tokenHash)
    .where("expires_at", ">", p.now)
    .returning("account_id"),
);

export const deleteLoginLinksOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("login_link").where("account_id", "=", p.accountId),
);

interface NewCredentials {
  accountId: string;
  email: string;
  passwordHash: string;
  now: number;
}

/** Nobody vouches for a new address, but the installation's owner for their own. */
export const setCredentials = statement((q, p: NewCredentials) =>
  q
    .updateTable("account")
    .set({
      email: p.email,
      password_hash: p.passwordHash,
      email_verified: sql`case when email = ${p.email} then email_verified
        when id = (select owner_account_id from installation) then 1 else 0 end`,
      updated_at: p.now,
    })
    .where("id", "=", p.accountId),
);

/** The operator gave the link to whom the address belongs; they don't know of another that is typed instead. */
export const recoverCredentials = statement((q, p: NewCredentials) =>
  q
    .updateTable("account")
    .set({
      email: p.email,
      password_hash: p.passwordHash,
      email_verified: sql`case when email = ${p.email}
        or id = (select owner_account_id from installation) then 1 else 0 end`,
      updated_at: p.now,
    })
    .where("id", "=", p.accountId),
);

/** Changes nothing: keeps others from changing how somebody gets into the account until the transaction ends. */
export const holdAccount = statement((q, p: { accountId: string }) =>
  q.updateTable("account").set({ updated_at: sql`updated_at` }).where("id", "=", p.accountId),
);

/**
 * Changes nothing: finds the account only while it still has the password that was checked, and keeps others from
 * changing it until the transaction ends.
 */
export const holdPassword = statement((q, p: { accountId: string; passwordHash: string }) =>
  q
    .updateTable("account")
    .set({ password_hash: p.passwordHash })
    .where("id", "=", p.accountId)
    .where("password_hash", "=", p.passwordHash),
);

export const findPasswordHash = statement((q, p: { accountId: string }) =>
  q.selectFrom("account").select("password_hash").where("id", "=", p.accountId),
);
