import { type RawBuilder, sql } from "#kysely";
import type { DialectName } from "./statement.ts";

/**
 * The database's own clock in epoch milliseconds: the only one that all instances share. It is constant within a
 * statement, so a condition used twice has the same result.
 */
export function databaseNow(dialect: DialectName): RawBuilder<number> {
  return dialect === "sqlite"
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;
}

/** A sum of sizes or counts, capped at JavaScript's largest safe integer, so that no further sum overflows. */
export function sumBytes(dialect: DialectName, column: string): RawBuilder<number> {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return dialect === "sqlite"
    ? sql<number>`cast(min(total(${sql.ref(column)}), ${most}) as integer)`
    : sql<number>`cast(least(coalesce(sum(${sql.ref(column)}), 0), ${most}) as bigint)`;
}

/**
 * Whether a column's text is in a JSON array passed as one parameter, so that one statement serves any number of
 * values. As an array, PostgreSQL looks each up in an index; with a subquery it would join the whole table, because
 * it cannot estimate how few there are.
 */
export function isOneOf(dialect: DialectName, column: string, jsonArray: string): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${jsonArray}))`
    : sql<boolean>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(cast(cast(${jsonArray} as text) as jsonb))))`;
}
