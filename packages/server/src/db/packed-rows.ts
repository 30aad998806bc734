import { type RawBuilder, sql } from "#kysely";

/** Columns of rows that are sent together, and their types in PostgreSQL. */
export type ColumnTypes<Row> = {
  readonly [Column in keyof Row & string]?: Row[Column] extends number | null ? "bigint" : "text";
};

/**
 * Any number of rows as one parameter. Values only: PostgreSQL builds a hash table for every object that it turns into a
 * row, which is a fifth of what the insert of a new file costs.
 */
export function packRows<Row extends object>(columns: ColumnTypes<Row>, rows: readonly Row[]): string {
  const names = Object.keys(columns) as (keyof Row)[];
  return JSON.stringify(rows.map((row) => names.map((name) => row[name])));
}

/** A query for these rows. */
export function unpackRows<Row>(columns: ColumnTypes<Row>, packed: string): RawBuilder<Row> {
  const values = Object.entries(columns as Record<string, string>).map(
    ([name, type], i) => sql`cast(packed ->> ${sql.lit(i)} as ${sql.raw(type)}) as ${sql.ref(name)}`,
  );
  return sql`select ${sql.join(values)}
    from jsonb_array_elements(cast(cast(${packed} as text) as jsonb)) as packed`;
}
