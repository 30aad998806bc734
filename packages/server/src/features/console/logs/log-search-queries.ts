import { type RawBuilder, sql } from "#kysely";
import { type DialectName, statement } from "../../../db/statement.ts";
import { logsBetween } from "../../logs/queries.ts";
import { matches } from "../files/search-queries.ts";
import type { LogsFrom } from "./log-stream-queries.ts";

/** In whatever a reader sees of an entry. */
export function hasText(dialect: DialectName, pattern: string): RawBuilder<boolean> {
  const columns = ["message", "type", "key", "data"].map((column) => matches(dialect, column, pattern));
  return sql<boolean>`(${sql.join(columns, sql` or `)})`;
}

type LogStretch = Omit<LogsFrom, "take"> & { before: string };

export const searchLogs = statement((q, p: LogStretch & { take: number }, dialect) =>
  logsBetween(q, p)
    .selectAll()
    .where(sql<boolean>`(cast(${p.type} as text) = '' or type = ${p.type})`)
    .where(hasText(dialect, p.pattern))
    .limit(p.take),
);
