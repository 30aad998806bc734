import { type RawBuilder, sql } from "#kysely";
import type { DialectName } from "../../db/statement.ts";

/**
 * Whether a column contains a text; `text` comes from `foldCase`. LIKE with wildcards backtracks: one crafted term
 * took seconds over a few hundred rows. Both functions used here do at most one comparison per position.
 */
export function contains(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`lower(${sql.ref(column)})`, text)} > 0`;
}

/** The same for text as it is written. */
export function containsExactly(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`${sql.ref(column)}`, text)} > 0`;
}

export function startsWith(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionIn(dialect, sql`lower(${sql.ref(column)})`, text)} = 1`;
}

/** Reads no more of the column than the text is long. */
export function startsExactlyWith(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return dialect === "sqlite"
    ? sql<boolean>`substr(${sql.ref(column)}, 1, length(${text})) = ${text}`
    : sql<boolean>`starts_with(${sql.ref(column)}, ${text})`;
}

function positionIn(dialect: DialectName, value: RawBuilder<unknown>, text: string): RawBuilder<number> {
  return sql<number>`${sql.raw(dialect === "sqlite" ? "instr" : "strpos")}(${value}, ${text})`;
}

/** Folds A to Z and nothing else, as both engines' lower() does here. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Folds the letters of every script. By way of lower case, so that "K" of Kelvin and "ς" at a word's end fold too. */
export function foldAnyCase(text: string): string {
  return text.toLowerCase().toUpperCase();
}
