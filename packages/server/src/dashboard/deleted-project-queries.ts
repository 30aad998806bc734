import { DELETED_PROJECTS_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import { sumBytes } from "../db/expressions.ts";
import { statement } from "../db/statement.ts";

/** In either environment. The words are those of the index that lists files. */
const filesLeft = sql`from file where file.project_id = project.id and file.status <> 'DELETED'`;

/** There is no counter of files; where there are very many, counting them all would hold others up. */
export const mostCounted = 1_000;

/** What the account pays for: deleted projects that still hold files or what is known of their events. */
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
      sql<number>`(select ${sumBytes(dialect, "stored_bytes")} from usage_total
        where usage_total.project_id = project.id)`.as("storedBytes"),
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

/** Deleted or not. Members, whatever their role, do not pay. */
export const findPaidProject = statement((q, p: { id: string; accountId: string }) =>
  q.selectFrom("project").select("id").where("id", "=", p.id).where("account_id", "=", p.accountId),
);
