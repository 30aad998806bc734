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

/** Where the stretch of so many entries below an id ends; no row where fewer are left. */
export const findLogStretchEnd = statement((q, p: LogStretch & { skip: number }) =>
  logsBetween(q, p).select("id").limit(1).offset(p.skip),
);

export const searchLogs = statement((q, p: LogStretch & { take: number }, dialect) =>
  logsBetween(q, p)
    .selectAll()
    .where(sql<boolean>`(cast(${p.type} as text) = '' or type = ${p.type})`)
    .where(hasText(dialect, p.pattern))
    .limit(p.take),
);
