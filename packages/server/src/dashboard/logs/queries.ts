import type { Environment } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import { type DialectName, statement } from "../../db/statement.ts";
import { contains } from "../../files/look-through.ts";
import { logsBetween } from "../../projects/logs/queries.ts";

export interface LogFilter {
  projectId: string;
  environment: Environment;
  /** Empty for any. */
  type: string;
  /** Empty for any; folded by `foldCase`. */
  text: string;
}

const shownColumns = ["message", "type", "key", "data"];

/** Searches every visible part of an entry. */
export function matchesFilter(dialect: DialectName, p: LogFilter): RawBuilder<boolean> {
  const columns = shownColumns.map((column) => contains(dialect, column, p.text));
  return sql<boolean>`(cast(${p.type} as text) = '' or type = ${p.type}) and (${sql.join(columns, sql` or `)})`;
}

/** How much of an entry's text a search reads. */
export const entryBytes = sql<number>`octet_length(message) + coalesce(octet_length(key), 0) + octet_length(data)`;

interface LogSpan extends LogFilter {
  from: string;
  before: string;
}

export const measureLogs = statement((q, p: LogSpan & { rows: number }) =>
  q
    .selectFrom(
      logsBetween(q, p)
        .select(["id", entryBytes.as("bytes")])
        .limit(p.rows)
        .as("newest"),
    )
    .select([
      sql<string | null>`min(id)`.as("id"),
      sql<number>`count(*)`.as("count"),
      sql<number>`coalesce(sum(bytes), 0)`.as("bytes"),
    ]),
);

export const searchLogs = statement((q, p: LogSpan & { take: number }, dialect) =>
  logsBetween(q, p).selectAll().where(matchesFilter(dialect, p)).limit(p.take),
);

interface LogsFrom extends LogFilter {
  from: string;
}

/** The last id of the next batch of entries from an id on. */
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
