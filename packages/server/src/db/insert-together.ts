import type { Queryable } from "./database.ts";
import { doEachTogether, gather } from "./lanes.ts";
import { type ColumnTypes, packRows } from "./packed-rows.ts";
import type { Schema } from "./schema.ts";
import { type Statement, statement } from "./statement.ts";

interface Insert<Row> {
  insertOne: Statement<Row, unknown>;
  /** Part of a transaction, which other callers may share. */
  insert(tx: Queryable, row: Row): Promise<unknown>;
}

/**
 * Rows of callers that share a transaction go into their table with one statement: on a server, what a statement costs
 * is more than a row. SQLite takes one at a time.
 */
export function insertTogether<Row extends object>(
  table: keyof Schema,
  columns: ColumnTypes<Row>,
): Insert<Row> {
  const packed = packRows(columns);
  const insertOne: Statement<Row, unknown> = statement((q, p: Row) =>
    q.insertInto(table).values(valuesOf(columns, p)),
  );
  const insertMany = statement((q, p: { rows: string }) =>
    q
      .insertInto(table)
      .columns(Object.keys(columns) as never)
      .expression(packed.unpack(p.rows)),
  );
  const insertGathered = gather<Row[]>(
    (rows, more) => {
      rows.push(...more);
    },
    async (tx, rows) => {
      const [first] = rows;
      if (rows.length > 1) await tx.run(insertMany, { rows: packed.pack(rows) });
      else if (first !== undefined) await tx.run(insertOne, first);
    },
  );
  return {
    insertOne,
    insert: (tx, row) =>
      tx.dialect === "sqlite" ? tx.run(insertOne, row) : insertGathered(tx, table, [row]),
  };
}

/** The same for rows that may be there already; false if so. */
export function insertNewTogether<Row extends { id: string }>(
  table: "file_route",
  columns: ColumnTypes<Row>,
  unique: readonly string[],
): (tx: Queryable, row: Row) => Promise<boolean> {
  const packed = packRows(columns);
  const insertOne = statement((q, p: Row) =>
    q
      .insertInto(table)
      .values(valuesOf(columns, p))
      .onConflict((conflict) => conflict.columns(unique as never).doNothing()),
  );
  const insertMany = statement((q, p: { rows: string }) =>
    q
      .insertInto(table)
      .columns(Object.keys(columns) as never)
      .expression(packed.unpack(p.rows))
      .onConflict((conflict) => conflict.columns(unique as never).doNothing())
      .returning("id"),
  );
  const insertGathered = doEachTogether<Row, { id: string }>((tx, rows) =>
    tx.all(insertMany, { rows: packed.pack(rows) }),
  );
  return async (tx, row) =>
    tx.dialect === "sqlite"
      ? (await tx.run(insertOne, row)) === 1
      : (await insertGathered(tx, table, row)) !== null;
}

function valuesOf<Row>(columns: ColumnTypes<Row>, row: Row): never {
  const names = Object.keys(columns) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, row[name]])) as never;
}
