import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";

/**
 * Whoever reserves for an account that has a ceiling goes through here, one after another. The embedded engine has one
 * writer anyway.
 */
export const lockAccount = statement((q, p: { accountId: string }, dialect) =>
  q
    .selectFrom("account")
    .select("id")
    .where("id", "=", p.accountId)
    .$if(dialect === "postgres", (select) => select.forNoKeyUpdate()),
);

interface AccountScope {
  accountId: string;
  projectId: string;
  environment: Environment;
  period: string;
}

const sum = (column: string) => sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;

/** What all projects of the account use together, deleted ones included, and whether the given one is still there. */
export const sumAccountUse = statement((q, p: AccountScope) =>
  q
    .selectFrom("project")
    .innerJoin("usage_total as total", (join) =>
      join.onRef("total.project_id", "=", "project.id").on("total.environment", "=", p.environment),
    )
    .leftJoin("usage_period as month", (join) =>
      join
        .onRef("month.project_id", "=", "project.id")
        .on("month.environment", "=", p.environment)
        .on("month.period", "=", p.period),
    )
    .where("project.account_id", "=", p.accountId)
    .where(sql<boolean>`project.is_counted = 1`)
    .select([
      sum("total.stored_bytes").as("storedBytes"),
      sum("total.reserved_bytes").as("reservedBytes"),
      sum("month.uploads").as("uploads"),
      sum("month.reserved_uploads").as("reservedUploads"),
      sum("month.transform_units").as("transformUnits"),
      sql<number>`cast(count(case when project.id = ${p.projectId} and project.deleted_at is null then 1 end) as bigint)`.as(
        "isOpen",
      ),
    ]),
);
