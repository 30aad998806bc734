import { type RawBuilder, sql } from "kysely";
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

/** The texts of a JSON array that was passed as one parameter, so that one statement serves any number of them. */
export function eachText(dialect: DialectName, jsonArray: string): RawBuilder<string> {
  return dialect === "sqlite"
    ? sql<string>`(select value from json_each(${jsonArray}))`
    : sql<string>`(select jsonb_array_elements_text(cast(cast(${jsonArray} as text) as jsonb)))`;
}
