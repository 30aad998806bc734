import { setImmediate as nextTurn } from "node:timers/promises";
import { type Log, LogPage, LogQuery } from "@upstow/contract";
import type { Database } from "../../db/database.ts";
import type { LogRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { encodeCursor, endPage, parseMoment, startPage } from "../../http/paging.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { findLogStretchEnd, type ListLogsOfType, listLogs, listLogsOfType } from "./queries.ts";

export function logRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/logs",
    {
      schema: {
        tags: ["logs"],
        summary: "List log entries, newest first",
        querystring: LogQuery,
        response: { 200: LogPage },
      },
    },
    async (request) => {
      const { actor, query } = request;
      const page = startPage(query);
      const filter = {
        ...page,
        projectId: actor.projectId,
        environment: actor.environment,
        from: query.since === undefined ? "" : firstIdAt(parseMoment("since", query.since)),
      };
      const { rows, scannedTo } =
        query.type === undefined
          ? { rows: await deps.db.all(listLogs, filter), scannedTo: null }
          : await findLogsOfType(deps.db, { ...filter, type: query.type });
      const { shown, nextCursor, hasMore } = endPage(rows, page.take);
      const logs = shown.map(toLog);
      if (scannedTo === null) return { logs, nextCursor, hasMore };
      return { logs, nextCursor: encodeCursor(scannedTo), hasMore: true };
    },
  );
}

/** SQLite reads on our own thread, so other requests get their turn after this many entries. */
const entriesPerTurn = 5_000;

/**
 * There is no index by type, which would slow every upload: a rare type is found by reading the environment's entries.
 * `scannedTo` is the id to continue below if a request ended before the page was full.
 */
export async function findLogsOfType(
  db: Database,
  wanted: ListLogsOfType,
  entriesPerRequest = 100_000,
): Promise<{ rows: LogRow[]; scannedTo: string | null }> {
  const perTurn = db.dialect === "sqlite" ? Math.min(entriesPerTurn, entriesPerRequest) : entriesPerRequest;
  const skip = perTurn - 1;
  const rows: LogRow[] = [];
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

export function toLog(row: LogRow): Log {
  return {
    id: row.id,
    type: row.type,
    ...(row.file_id === null ? {} : { fileId: row.file_id }),
    ...(row.key === null ? {} : { key: row.key }),
    message: row.message,
    data: JSON.parse(row.data),
    createdAt: isoTime(row.created_at),
  };
}
