import { type RawBuilder, sql } from "kysely";
import { eachText } from "../../db/expressions.ts";
import type { DialectName } from "../../db/statement.ts";

/**
 * Whether `id` is in a JSON array of ids. As an array, PostgreSQL looks each up by the primary key; as a subquery
 * it would join them with the whole table, for lack of an idea how few they are.
 */
export function idIsOneOf(dialect: DialectName, jsonArray: string): RawBuilder<boolean> {
  const ids = eachText(dialect, jsonArray);
  return dialect === "sqlite" ? sql<boolean>`id in ${ids}` : sql<boolean>`id = any(array${ids})`;
}
