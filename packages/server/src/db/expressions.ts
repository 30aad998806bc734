import { type RawBuilder, sql } from "#kysely";
import type { DialectName } from "./statement.ts";

/**
 * The database's own clock in epoch milliseconds: the only one that several instances share. It stands still
 * within a statement, so that a condition named twice is answered twice alike.
 */
export function databaseNow(dialect: DialectName): RawBuilder<number> {
  return dialect === "sqlite"
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;
}

/** A sum of sizes, at most the largest number that JavaScript has: no sum of the engine's own overflows then. */
export function sumBytes(dialect: DialectName, column: string): RawBuilder<number> {
  const most = sql.lit(Number.MAX_SAFE_INTEGER);
  return dialect === "sqlite"
    ? sql<number>`cast(min(total(${sql.ref(column)}), ${most}) as integer)`
    : sql<number>`cast(least(coalesce(sum(${sql.ref(column)}), 0), ${most}) as bigint)`;
}

/**
 * Whether a column's text is in a JSON array that was passed as one parameter, so that one statement serves any number
 * of them. As an array, PostgreSQL looks each up in an index; as a subquery it would join them with the whole table,
 * for lack of an idea how few they are.
 */
export function isOneOf(dialect: DialectName, column: string, jsonArray: string): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`${sql.ref(column)} in (select value from json_each(${jsonArray}))`
    : sql<boolean>`${sql.ref(column)} = any(array(select jsonb_array_elements_text(cast(cast(${jsonArray} as text) as jsonb))))`;
}
