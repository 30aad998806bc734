import type { Deps } from "../../deps.ts";
import type { FairTurns } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { toLog } from "../../projects/logs/routes.ts";
import type { Alarm } from "../../webhooks/alarm.ts";
import { type LogFilter, listLogsFrom, measureLogsFrom } from "./queries.ts";

const lookEveryMs = 1_000;
const beatMs = 5_000;
/** Entries read at once; on SQLite a few milliseconds at worst. */
const entriesPerLook = 500;
/** An entry is dated when its work begins and appears when that is committed, on any instance. */
const lateMs = 10_000;

export interface Watched extends LogFilter {
  accountId: string;
  /** Entries shortly before may come again; their ids tell. */
  sinceMs: number;
  /** Asked before anything is sent: a session that ended sees nothing more. */
  mayWatch: () => Promise<boolean>;
}

/** Server-sent events, one an entry, until `signal` is aborted or the watcher may no longer watch. */
export async function* streamLogs(
  deps: Pick<Deps, "db">,
  turns: FairTurns,
  watched: Watched,
  alarm: Alarm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const findFresh = createFinder(deps, turns, watched);
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

/** Reads the last seconds again each time, and leaves out what was found before. */
function createFinder({ db }: Pick<Deps, "db">, turns: FairTurns, watched: Watched) {
  const found = new Set<string>();
  let newestMs = watched.sinceMs;
  let from = firstIdAt(newestMs - lateMs);
  return async () => {
    const { end, rows } = await turns.take(watched.accountId, async () => {
      const measured = await db.get(measureLogsFrom, { ...watched, from, rows: entriesPerLook });
      const last = measured?.id ?? null;
      if (measured === null || last === null) return { end: null, rows: [] };
      const wanted = { ...watched, from, to: last, take: entriesPerLook };
      return { end: { ...measured, id: last }, rows: await db.all(listLogsFrom, wanted) };
    });
    const fresh = rows.filter((row) => !found.has(row.id));
    for (const row of fresh) found.add(row.id);
    if (end !== null) newestMs = Math.max(newestMs, end.newestMs);
    const again = firstIdAt(newestMs - lateMs);
    for (const id of found) if (id < again) found.delete(id);
    // A full look may have stopped before the newest entries: continue from there, then read the last seconds again.
    const hasMore = end !== null && end.count === entriesPerLook && end.id !== from;
    from = hasMore ? end.id : again;
    return { fresh, hasMore };
  };
}

function formatEntry(row: Parameters<typeof toLog>[0]): string {
  // JSON text holds no line break, so one data line carries it. The id is where a reconnected stream goes on.
  return `id: ${row.created_at}\ndata: ${JSON.stringify(toLog(row))}\n\n`;
}
