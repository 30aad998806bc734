import type { Environment } from "@upstow/contract";
import type { Deps } from "../../../deps.ts";
import { firstIdAt } from "../../../ids.ts";
import { toLog } from "../../logs/to-log.ts";
import type { Alarm } from "../../webhooks/alarm.ts";
import { listLogsFrom } from "./log-stream-queries.ts";

const lookEveryMs = 1_000;
const beatMs = 5_000;
const batchSize = 200;
/** An entry is dated when its work begins and shows when that is committed, on whichever instance. */
const lateMs = 10_000;

export interface Watched {
  projectId: string;
  environment: Environment;
  type: string;
  /** What to look for in each, as `like` reads it. */
  pattern: string;
  /** From when on; entries shortly before may come again, which their ids tell. */
  sinceMs: number;
  /** Asked before anything is sent: a session that ended sees nothing more. */
  mayWatch: () => Promise<boolean>;
}

/** Server-sent events, one an entry, until `signal` is aborted or the watcher may no longer watch. */
export async function* streamLogs(
  deps: Pick<Deps, "db">,
  watched: Watched,
  alarm: Alarm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const findFresh = createFinder(deps, watched);
  let sentAt = performance.now();
  yield "retry: 2000\n: open\n\n";
  while (!signal.aborted) {
    const { fresh, hasMore } = await findFresh();
    if (fresh.length > 0 || performance.now() - sentAt >= beatMs) {
      if (!(await watched.mayWatch())) return;
      yield fresh.length === 0 ? ": alive\n\n" : fresh.map(formatEntry).join("");
      sentAt = performance.now();
    }
    if (!hasMore) await alarm.sleep(lookEveryMs);
  }
}

/** Looks again at the last seconds each time, and leaves out what was found before. */
function createFinder({ db }: Pick<Deps, "db">, { sinceMs, ...watched }: Watched) {
  const found = new Set<string>();
  let newestMs = sinceMs;
  return async () => {
    const from = firstIdAt(newestMs - lateMs);
    for (const id of found) if (id < from) found.delete(id);
    const take = batchSize + found.size;
    const rows = await db.all(listLogsFrom, { ...watched, from, take });
    const fresh = rows.filter((row) => !found.has(row.id));
    for (const row of fresh) {
      found.add(row.id);
      newestMs = Math.max(newestMs, row.created_at);
    }
    return { fresh, hasMore: rows.length === take };
  };
}

function formatEntry(row: Parameters<typeof toLog>[0]): string {
  // JSON text holds no line break, so one data line carries it. The id is where a reconnected stream goes on.
  return `id: ${row.created_at}\ndata: ${JSON.stringify(toLog(row))}\n\n`;
}
