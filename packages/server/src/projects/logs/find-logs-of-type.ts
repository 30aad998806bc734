import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../../db/database.ts";
import type { LogTable } from "../../db/schema.ts";
import { findLogStretchEnd, type ListLogsOfType, listLogsOfType } from "./queries.ts";

/** SQLite reads on our own thread: after so many entries other requests get their turn. */
const entriesPerTurn = 5_000;

/**
 * There is no index by type, which would slow every upload: a rare type is found by reading the environment's entries.
 * `scannedTo` is the id to continue below where a request ended before the page was full.
 */
export async function findLogsOfType(
  db: Database,
  wanted: ListLogsOfType,
  entriesPerRequest = 100_000,
): Promise<{ rows: LogTable[]; scannedTo: string | null }> {
  const perTurn = db.dialect === "sqlite" ? Math.min(entriesPerTurn, entriesPerRequest) : entriesPerRequest;
  const skip = perTurn - 1;
  const rows: LogTable[] = [];
  let { before } = wanted;
  for (let seen = 0; seen < entriesPerRequest; seen += perTurn) {
    const end = await db.get(findLogStretchEnd, { ...wanted, before, skip });
    const stretch = { ...wanted, before, from: end?.id ?? wanted.from, take: wanted.take - rows.length };
    rows.push(...(await db.all(listLogsOfType, stretch)));
    if (end === null || rows.length === wanted.take) return { rows, scannedTo: null };
    before = end.id;
    await nextTurn();
  }
  return { rows, scannedTo: before };
}
