import { type RawBuilder, sql } from "#kysely";
import type { DialectName } from "../../../db/statement.ts";

/**
 * Whether a column contains a text; `text` comes from `foldCase`. LIKE with wildcards backtracks: one crafted term
 * took seconds over a few hundred rows. Both functions used here do at most one comparison per position.
 */
export function contains(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionOf(dialect, column, text)} > 0`;
}

export function startsWith(dialect: DialectName, column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${positionOf(dialect, column, text)} = 1`;
}

function positionOf(dialect: DialectName, column: string, text: string): RawBuilder<number> {
  const name = sql.raw(dialect === "sqlite" ? "instr" : "strpos");
  return sql<number>`${name}(lower(${sql.ref(column)}), ${text})`;
}

/** Folds A to Z and nothing else, as both engines' lower() does here. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
