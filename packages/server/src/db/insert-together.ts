import { sql } from "#kysely";
import type { Queryable } from "./database.ts";
import { gather } from "./lanes.ts";
import type { Schema } from "./schema.ts";
import { type Statement, statement } from "./statement.ts";

interface Insert<Row> {
  insertOne: Statement<Row, unknown>;
  /** Part of a transaction, which other callers may share. */
  insert(tx: Queryable, row: Row): Promise<void>;
}

/**
 * Rows of callers that share a transaction go into their table with one statement, as a JSON array: on a server, what a
 * statement costs is more than a row. SQLite takes one at a time.
 */
export function insertTogether<Row extends object>(
  table: keyof Schema,
  columns: readonly (keyof Row & string)[],
): Insert<Row> {
  const insertOne: Statement<Row, unknown> = statement((q, p: Row) =>
    q.insertInto(table).values(Object.fromEntries(columns.map((column) => [column, p[column]])) as never),
  );
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const insertMany = statement((q, p: { rows: string }) =>
    q
      .insertInto(table)
      .columns(columns as never)
      .expression(
        sql`select ${names}
          from json_populate_recordset(null::${sql.table(table)}, cast(cast(${p.rows} as text) as json))` as never,
      ),
  );
  const insertGathered = gather<Row[]>(
    (rows, more) => {
      rows.push(...more);
    },
    async (tx, rows) => {
      const [first] = rows;
      if (rows.length > 1) await tx.run(insertMany, { rows: JSON.stringify(rows) });
      else if (first !== undefined) await tx.run(insertOne, first);
    },
  );
  return {
    insertOne,
    async insert(tx, row) {
      if (tx.dialect === "sqlite") await tx.run(insertOne, row);
      else await insertGathered(tx, table, [row]);
    },
  };
}
