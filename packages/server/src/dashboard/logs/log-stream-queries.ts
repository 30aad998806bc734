import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";
import { type LogFilter, matchesFilter } from "./log-search-queries.ts";

interface LogsFrom extends LogFilter {
  from: string;
}

/** Up to where the next entries from an id on reach. */
export const measureLogsFrom = statement((q, p: LogsFrom & { rows: number }) =>
  q
    .selectFrom(
      q
        .selectFrom("log")
        .select(["id", "created_at"])
        .where("project_id", "=", p.projectId)
        .where("environment", "=", p.environment)
        .where("id", ">=", p.from)
        .orderBy("id")
        .limit(p.rows)
        .as("next"),
    )
    .select([
      sql<string | null>`max(id)`.as("id"),
      sql<number>`count(*)`.as("count"),
      sql<number>`coalesce(max(created_at), 0)`.as("newestMs"),
    ]),
);

export const listLogsFrom = statement((q, p: LogsFrom & { to: string; take: number }, dialect) =>
  q
    .selectFrom("log")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("id", ">=", p.from)
    .where("id", "<=", p.to)
    .where(matchesFilter(dialect, p))
    .orderBy("id")
    .limit(p.take),
);
