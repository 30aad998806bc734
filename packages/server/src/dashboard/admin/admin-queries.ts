import { sql } from "#kysely";
import { sumBytes } from "../../db/expressions.ts";
import { statement } from "../../db/statement.ts";

/** The account with what all its projects store. */
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
      sql<number>`(select ${sumBytes(dialect, "usage_total.stored_bytes")} from usage_total
        join project on project.id = usage_total.project_id where project.account_id = account.id)`.as(
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

/** All of these are small tables or have an index that holds little more than what is counted. */
export const measureInstallation = statement((q, _: object, dialect) =>
  q.selectNoFrom([
    sql<number>`(select count(*) from account)`.as("accounts"),
    sql<number>`(select count(*) from project where deleted_at is null)`.as("projects"),
    sql<number>`(select ${sumBytes(dialect, "stored_bytes")} from usage_total)`.as("storedBytes"),
    sql<number>`(select count(*) from file where status = 'UPLOADING')`.as("openUploads"),
    sql<number>`(select count(*) from storage_deletion where bytes_gone = 0)`.as("deletions"),
    sql<number>`(select count(*) from disk_object where damaged = 1)
      + (select count(*) from disk_part where damaged = 1)`.as("damaged"),
  ]),
);
