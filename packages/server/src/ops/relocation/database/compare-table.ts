import { createHash } from "node:crypto";
import type { Database } from "../../../db/database.ts";
import type { CopyPlan, Row } from "./copy-plan.ts";
import { readPages, type TableShape, toJson } from "./table-shape.ts";

export interface TableDigest {
  rows: number;
  /** Over every value of every row, in the order of the keys. */
  sha256: string;
}

/** Both databases read again from their first row to their last. Null where they differ. */
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
