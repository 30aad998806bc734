import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import type { LogTable } from "../../db/schema.ts";
import { findLogStretchEnd, type ListLogsOfType, listLogsOfType } from "./queries.ts";

/** The embedded database looks in our own thread: after so many entries other requests get their turn. */
const entriesPerTurn = 5_000;

/**
 * There is no index by type, which every upload would have to keep: a rare type is found by looking at all entries of
 * the environment.
 */
export async function findLogsOfType(db: Database, wanted: ListLogsOfType): Promise<LogTable[]> {
  if (db.dialect === "postgres") return db.all(listLogsOfType, wanted);
  const rows: LogTable[] = [];
  let { before } = wanted;
  for (;;) {
    const end = await db.get(findLogStretchEnd, { ...wanted, before, skip: entriesPerTurn - 1 });
    const stretch = { ...wanted, before, from: end?.id ?? wanted.from, take: wanted.take - rows.length };
    rows.push(...(await db.all(listLogsOfType, stretch)));
    if (end === null || rows.length === wanted.take) return rows;
    before = end.id;
    await nextTurn();
  }
}
