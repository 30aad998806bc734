import { createHash } from "node:crypto";
import { sql } from "#kysely";
import type { Database } from "../../../db/database.ts";
import { statement } from "../../../db/statement.ts";
import { AppError } from "../../../kernel/errors.ts";
import {
  type CopyPlan,
  insertInto,
  type KeyValues,
  type Row,
  readPages,
  type TableShape,
  toJson,
} from "./table-shape.ts";

export interface TableCopyJob {
  source: Database;
  target: Database;
  plan: CopyPlan;
  /** Including those of an earlier run. */
  onRows: (count: number) => void;
}

interface Progress {
  name: string;
  lastKey: string;
  rowCount: number;
  isComplete: number;
}

const findProgress = statement((q, p: { name: string }) =>
  q.selectFrom("relocated_table").selectAll().where("name", "=", p.name),
);

const putProgress = statement((q, p: Progress) =>
  q
    .insertInto("relocated_table")
    .values({ name: p.name, last_key: p.lastKey, row_count: p.rowCount, is_complete: p.isComplete })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet({
        last_key: sql`excluded.last_key`,
        row_count: sql`excluded.row_count`,
        is_complete: sql`excluded.is_complete`,
      }),
    ),
);

/** Continues where an earlier run stopped: its position is written in the same transaction as the rows. */
export async function copyTable(job: TableCopyJob, shape: TableShape): Promise<void> {
  const { source, target, plan } = job;
  const { name } = shape;
  const begun = await target.get(findProgress, { name });
  job.onRows(begun?.row_count ?? 0);
  if (begun?.is_complete === 1) return;
  const insert = insertInto(shape);
  let rowCount = begun?.row_count ?? 0;
  let lastKey = begun?.last_key ?? "";
  const after = lastKey === "" ? null : (JSON.parse(lastKey) as KeyValues);
  for await (const { rows, last } of readPages(source, shape, after)) {
    const converted = rows.map((row) => plan.convert(name, row));
    rowCount += rows.length;
    lastKey = JSON.stringify(last);
    const progress = { name, lastKey, rowCount, isComplete: 0 };
    await target
      .transact(async (tx) => {
        await tx.run(insert, [toJson(converted)]);
        await tx.run(putProgress, progress);
      })
      .catch((error) => {
        throw explainRefusal(error, name, rows);
      });
    job.onRows(rows.length);
  }
  await target.run(putProgress, { name, lastKey, rowCount, isComplete: 1 });
}

/** SQLSTATE for text that PostgreSQL cannot store. */
const untranslatable = ["22P05", "22021"];

function explainRefusal(error: unknown, table: string, rows: Row[]): unknown {
  if (!untranslatable.includes(String((error as { code?: unknown }).code))) return error;
  const odd = rows.find((row) => Object.values(row).some((value) => String(value).includes("\0")));
  return new AppError(
    "VALIDATION_ERROR",
    `PostgreSQL cannot store a zero byte, and the table ${table} contains one: ${JSON.stringify(odd ?? null)}.`,
    { suggestion: "Correct or delete that record through the API after `upstow migrate database --abort`." },
  );
}

export interface TableDigest {
  rows: number;
  /** A hash of every value of every row, in key order. */
  sha256: string;
}

/** Reads both databases again from the first row to the last. Null if they differ. */
export async function compareTable(
  { source, target, plan }: { source: Database; target: Database; plan: CopyPlan },
  shape: TableShape,
): Promise<TableDigest | null> {
  const wanted = await digest(source, shape, (row) => plan.convert(shape.name, row));
  const copied = await digest(target, shape, (row) => row);
  return wanted.sha256 === copied.sha256 && wanted.rows === copied.rows ? copied : null;
}

type Convert = (row: Row) => Row;

async function digest(db: Database, shape: TableShape, convert: Convert): Promise<TableDigest> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const { rows } of readPages(db, shape)) {
    for (const row of rows) hash.update(`${toJson(Object.values(convert(row)))}\n`);
    count += rows.length;
  }
  return { rows: count, sha256: hash.digest("hex") };
}
