import type { Database } from "../../../db/database.ts";
import type { Statement } from "../../../db/statement.ts";
import { type TableName, tableNames } from "../../../db/table-names.ts";
import { storeNames } from "../queries.ts";

/** A table's columns in order, with PostgreSQL types, and which of them form the key. */
export interface TableShape {
  name: TableName;
  columns: { name: string; type: ColumnType }[];
  key: string[];
}

type ColumnType = "text" | "bigint" | "bytea";

export type KeyValues = Row[string][];

interface ColumnRow {
  name: string;
  type: string;
  pk: number;
}

const typeOf: Record<string, ColumnType | undefined> = { TEXT: "text", INTEGER: "bigint", BLOB: "bytea" };

/** From the embedded database's schema. Its tables are strict: a column has its type or null. */
export async function describeTable(source: Database, name: TableName): Promise<TableShape> {
  const rows = await source.all(
    raw<ColumnRow>(`select name, type, pk from pragma_table_info('${name}') order by cid`),
    [],
  );
  const columns = rows.map((row) => {
    const type = typeOf[row.type];
    if (type === undefined)
      throw new Error(`no conversion is known for the type ${row.type} of ${name}.${row.name}`);
    return { name: row.name, type };
  });
  const key = rows.filter((row) => row.pk > 0).sort((a, b) => a.pk - b.pk);
  if (key.length === 0) throw new Error(`the table ${name} has no primary key`);
  return { name, columns, key: key.map((row) => row.name) };
}

const rowsAtOnce = 1000;
/** For tables that contain bytes. */
const heavyRowsAtOnce = 200;
const list = (names: string[]) => names.map((name) => `"${name}"`).join(", ");

/** All rows after `after` in key order, which is the same in both engines. */
export async function* readPages(
  db: Database,
  { name, columns, key }: TableShape,
  after: KeyValues | null = null,
): AsyncGenerator<{ rows: Row[]; last: KeyValues }> {
  const pageSize = columns.some(({ type }) => type === "bytea") ? heavyRowsAtOnce : rowsAtOnce;
  const select = `select ${list(columns.map((column) => column.name))} from "${name}"`;
  const order = `order by ${list(key)} limit ${pageSize}`;
  const marks = key.map((_, i) => (db.dialect === "sqlite" ? "?" : `$${i + 1}`)).join(", ");
  const first = raw<Row>(`${select} ${order}`);
  const next = raw<Row>(`${select} where (${list(key)}) > (${marks}) ${order}`);
  for (let last = after; ; ) {
    const rows = await (last === null ? db.all(first, []) : db.all(next, last));
    const end = rows.at(-1);
    if (end === undefined) return;
    last = key.map((column) => end[column] ?? null);
    yield { rows, last };
    if (rows.length < pageSize) return;
  }
}

/** Passes all rows as one JSON text, so that one statement serves any number of them; bytes are hex-encoded. */
export function insertInto({ name, columns }: TableShape): Statement<unknown[], unknown> {
  const names = list(columns.map((column) => column.name));
  const values = columns.map(({ name: column, type }) =>
    type === "bytea" ? `decode("${column}", 'hex')` : `"${column}"`,
  );
  const typed = columns.map(({ name: column, type }) => `"${column}" ${type === "bytea" ? "text" : type}`);
  return raw(
    `insert into "${name}" (${names}) select ${values.join(", ")} from json_to_recordset(cast(cast($1 as text) as json)) as row(${typed.join(", ")})`,
  );
}

export function toJson(values: Row | Row[] | KeyValues): string {
  return JSON.stringify(values, function (this: Record<string, unknown>, name: string, value: unknown) {
    // Not `value`, because buffers have already been converted by then.
    const original = this[name];
    return ArrayBuffer.isView(original) ? toHex(original) : value;
  });
}

function toHex({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("hex");
}

export async function countRows(db: Database, name: TableName): Promise<number> {
  const row = await db.get(raw<{ count: number }>(`select count(*) as count from "${name}"`), []);
  return row?.count ?? 0;
}

/** SQL for tables known only at run time; parameters are positional. */
export function raw<Result>(sql: string): Statement<unknown[], Result> {
  const compiled = { sql, bind: (values: object) => values as unknown[] };
  return { compile: () => compiled };
}

export interface CopyPlan {
  /** In an order in which referenced rows come first. */
  tables: TableName[];
  leftOut: { table: TableName; reason: string }[];
  /** How a row is changed while it is copied. */
  convert(table: TableName, row: Row): Row;
}

export type Row = Record<string, string | number | Uint8Array | null>;

const never: Partial<Record<TableName, string>> = {
  migration: "made by the schema itself",
  rate_window: "rate windows last one minute and restart",
  read_only: "concerns the old database only",
  relocation: "written by the move itself",
  relocated_table: "the journal of this copy",
};

const ofTheDisk: TableName[] = [
  "disk_store",
  "disk_object",
  "disk_part",
  "disk_small_blob",
  "relocated_object",
];
const namesStore: TableName[] = ["file", "variant", "storage_deletion"];

/** `isInBucket`: all bytes were copied to the bucket that the new database will be used with. */
export function planCopy(isInBucket: boolean): CopyPlan {
  const reasonFor = (table: TableName) =>
    isInBucket && ofTheDisk.includes(table) ? "the files are in the bucket" : never[table];
  return {
    tables: tableNames.filter((table) => reasonFor(table) === undefined),
    leftOut: tableNames.flatMap((table) => {
      const reason = reasonFor(table);
      return reason === undefined ? [] : [{ table, reason }];
    }),
    convert(table, row) {
      const isMoved = isInBucket && namesStore.includes(table) && row["store"] === storeNames.from;
      if (!isMoved) return row;
      // The ETag in the bucket is not known here; `upstow verify --accept-etags` records it.
      return { ...row, store: storeNames.to, ...("store_etag" in row ? { store_etag: "" } : {}) };
    },
  };
}
