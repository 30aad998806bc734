import { DELETED_PROJECTS_MAX, LIST_MAX, SHORT_LIST_MAX } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { DashboardSessionRow, Schema } from "../db/schema.ts";
import { statement, sumBytes } from "../db/statement.ts";
import { actorColumns } from "../projects/accounts/queries.ts";
import { totalRows } from "../projects/usage/shares.ts";

export const insertSession = statement((q, p: DashboardSessionRow) =>
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
  q
    .deleteFrom("console_session")
    .where("id", "=", p.id)
    .where("account_id", "=", p.accountId)
    .returning("id"),
);

export const deleteSessionByToken = statement((q, p: { tokenHash: string }) =>
  q.deleteFrom("console_session").where("token_hash", "=", p.tokenHash),
);

export const deleteSessionsOfAccount = statement((q, p: { accountId: string }) =>
  q.deleteFrom("console_session").where("account_id", "=", p.accountId),
);

/** Whether the session is still valid, for streams that outlive a request. */
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

/** Deletes the row on use, so that only one of two people with the same link gets in. */
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

/** A new email is unverified, except for the installation's owner. */
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

/** The operator gave the link to the owner of this email; a different one that is typed instead is unverified. */
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

/** Changes nothing, but locks the account's credentials until the transaction ends. */
export const holdAccount = statement((q, p: { accountId: string }) =>
  q.updateTable("account").set({ updated_at: sql`updated_at` }).where("id", "=", p.accountId),
);

/**
 * Changes nothing: finds the account only while it still has the password that was checked, and locks it until the
 * transaction ends.
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

/** Projects that the account owns or is a member of. */
const accessible = (q: QueryCreator<Schema>, accountId: string) =>
  q
    .selectFrom("project")
    .leftJoin("project_member", (join) =>
      join
        .onRef("project_member.project_id", "=", "project.id")
        .on("project_member.account_id", "=", accountId),
    )
    .where("project.deleted_at", "is", null)
    .where((where) =>
      where.or([
        where("project.account_id", "=", accountId),
        where("project_member.account_id", "is not", null),
      ]),
    );

/** The project with its account's limits and the caller's role; no row without a role. */
export const findAccess = statement((q, p: { projectId: string; accountId: string }) =>
  accessible(q, p.accountId)
    .innerJoin("account", "account.id", "project.account_id")
    .where("project.id", "=", p.projectId)
    .select(["project.id as projectId", ...actorColumns, "project_member.role as memberRole"]),
);

/** The buckets in which the account's projects store files. */
export const listAccessibleStores = statement((q, p: { accountId: string }) =>
  accessible(q, p.accountId)
    .innerJoin("customer_store", "customer_store.project_id", "project.id")
    .select("customer_store.id as id")
    .orderBy("customer_store.id")
    .limit(LIST_MAX),
);

export const listAccessibleProjects = statement((q, p: { accountId: string }) =>
  accessible(q, p.accountId)
    .select([
      "project.id as id",
      "project.name as name",
      "project.slug as slug",
      "project.account_id as accountId",
      "project.created_at as createdAt",
      "project.trash_days as trashDays",
      "project_member.role as memberRole",
    ])
    .orderBy("project.id", "desc")
    .limit(LIST_MAX),
);

/** The account with the total storage of its projects. */
export const listAccounts = statement((q, p: { pattern: string; before: string; take: number }, dialect) =>
  q
    .selectFrom("account")
    .select([
      "id",
      "email",
      "tier",
      "rate_upload as rateUpload",
      "rate_transform as rateTransform",
      "rate_other as rateOther",
      "transform_units as transformUnits",
      "project_count as projects",
      "email_verified as emailVerified",
      "may_own_projects as mayOwnProjects",
      "created_at as createdAt",
      sql<number>`(select ${sumBytes(dialect, "total.stored_bytes")} from ${totalRows(dialect)} as total
        join project on project.id = total.project_id where project.account_id = account.id)`.as(
        "storedBytes",
      ),
      sql<number>`case when password_hash is null then 0 else 1 end`.as("hasPassword"),
    ])
    .where("id", "<", p.before)
    .where(sql<boolean>`email like ${p.pattern} escape '!'`)
    .orderBy("id", "desc")
    .limit(p.take),
);

export const findAccountById = statement((q, p: { id: string }) =>
  q.selectFrom("account").selectAll().where("id", "=", p.id),
);

/** Counting more would take longer than a page should. */
const mostMeasured = 1_000_000;
const countUpTo = (rows: RawBuilder<unknown>) =>
  sql<number>`(select count(*) from (select 1 ${rows} limit ${mostMeasured}) as counted)`;

/** All of these are small tables, or have an index of little more than the counted rows. */
export const measureInstallation = statement((q, _: object, dialect) =>
  q.selectNoFrom([
    countUpTo(sql`from account`).as("accounts"),
    countUpTo(sql`from project where deleted_at is null`).as("projects"),
    sql<number>`(select ${sumBytes(dialect, "stored_bytes")} from ${totalRows(dialect)} as total)`.as(
      "storedBytes",
    ),
    countUpTo(sql`from file where status = 'UPLOADING'`).as("openUploads"),
    countUpTo(sql`from storage_deletion where bytes_gone = 0`).as("deletions"),
    sql<number>`${countUpTo(sql`from disk_object where damaged = 1`)}
      + ${countUpTo(sql`from disk_part where damaged = 1`)}`.as("damaged"),
  ]),
);

/** In either environment, the trash included. The conditions match those of the indexes that list files. */
const filesLeft = sql`from (
  select 1 from file where file.project_id = project.id and file.status <> 'DELETED'
  union all select 1 from file where file.project_id = project.id and file.purge_at is not null) as file_left`;

/** There is no file counter, and counting very many files would block others. */
export const mostCounted = 1_000;

/** Deleted projects with remaining files or events, which still count for the account. */
export const listDeletedProjects = statement((q, p: { accountId: string }, dialect) =>
  q
    .selectFrom("project")
    .select([
      "id",
      "name",
      "slug",
      sql<number>`deleted_at`.as("deletedAt"),
      sql<number>`(select count(*)
        from (select 1 ${filesLeft} limit ${mostCounted + 1}) counted)`.as("files"),
      sql<number>`(select ${sumBytes(dialect, "stored_bytes")} from ${totalRows(dialect)} as total
        where total.project_id = project.id)`.as("storedBytes"),
    ])
    .where("account_id", "=", p.accountId)
    .where("deleted_at", "is not", null)
    .where(
      sql<boolean>`(exists (select 1 ${filesLeft})
        or exists (select 1 from event_sequence where event_sequence.project_id = project.id)
        or exists (select 1 from webhook_signing_key where webhook_signing_key.project_id = project.id))`,
    )
    .orderBy("deleted_at", "desc")
    .orderBy("id", "desc")
    .limit(DELETED_PROJECTS_MAX),
);

/** Deleted or not. Members do not pay, whatever their role. */
export const findPaidProject = statement((q, p: { id: string; accountId: string }) =>
  q.selectFrom("project").select("id").where("id", "=", p.id).where("account_id", "=", p.accountId),
);
