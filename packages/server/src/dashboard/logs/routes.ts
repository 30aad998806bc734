import { LOG_TYPE_MAX, LogQuery, SEARCH_TERM_MAX, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { foldCase, lookForPage } from "../../files/look-through.ts";
import { boundsOf, startPage } from "../../http/paging.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { AppError } from "../../kernel/errors.ts";
import { admitSearch, type FairTurns } from "../../kernel/fair-turns.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { toLog } from "../../projects/logs/routes.ts";
import type { Alarm } from "../../webhooks/alarm.ts";
import { createOpenStreams } from "../../webhooks/open-streams.ts";
import { enterProject } from "../access.ts";
import { findLastingSession } from "../queries.ts";
import { type LogFilter, listLogsFrom, measureLogs, measureLogsFrom, searchLogs } from "./queries.ts";

const SearchQuery = Type.Object({
  ...LogQuery.properties,
  text: Type.String({ minLength: 1, maxLength: SEARCH_TERM_MAX }),
});

/** Lists the log entries that contain a text. A search through many entries may return short or empty pages. */
export function logSearchRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;

  app.get("/logs/search", { schema: { querystring: SearchQuery } }, async ({ actor, query }) => {
    const { projectId, environment, accountId } = actor;
    admitSearch(turns, accountId);
    const { before, take } = startPage(query);
    const wanted = { projectId, environment, type: query.type ?? "", text: foldCase(query.text) };
    const { shown, ...page } = await lookForPage(
      deps,
      accountId,
      { ...boundsOf(query, before), take },
      {
        measure: (span) => db.get(measureLogs, { ...wanted, ...span }),
        read: (stretch) => db.all(searchLogs, { ...wanted, ...stretch }),
      },
    );
    return { logs: shown.map(toLog), ...page };
  });
}

const StreamQuery = Type.Object({
  type: Type.Optional(Type.String({ maxLength: LOG_TYPE_MAX })),
  text: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
});

/** The project's log entries as they happen. */
export function logStreamRoutes(app: ApiApp, deps: Deps): void {
  const streams = createOpenStreams();
  app.addHook("preClose", () => streams.closeAll());

  app.get(
    "/logs/stream",
    { exposeHeadRoute: false, schema: { querystring: StreamQuery } },
    async ({ actor, session, query, headers }, reply) => {
      const { projectId, environment } = actor;
      const mayWatch = async () => {
        const lasts = await deps.db.get(findLastingSession, { id: session.id, now: deps.now() });
        if (lasts === null) return false;
        const entered = enterProject(deps, session, { projectId, environment }, "viewer");
        return entered.then(
          () => true,
          () => false,
        );
      };
      const resumed = Number(headers["last-event-id"]?.toString() ?? "");
      const sinceMs = Number.isSafeInteger(resumed) && resumed > 0 ? resumed : deps.now();
      const watched = {
        projectId,
        environment,
        type: query.type ?? "",
        text: foldCase(query.text ?? ""),
        accountId: actor.accountId,
        sinceMs,
        mayWatch,
      };
      const stream = streams.open({ keyId: session.id, accountId: session.accountId }, (alarm, signal) =>
        streamLogs(deps, deps.turns, watched, alarm, signal),
      );
      if (stream === null) throw tooManyStreams();
      return (
        reply
          .type("text/event-stream; charset=utf-8")
          // Some proxies delay a response until a buffer is full.
          .header("x-accel-buffering", "no")
          .header("connection", "close")
          .send(stream)
      );
    },
  );
}

function tooManyStreams(): AppError {
  return new AppError("RATE_LIMITED", "You have too many live logs open. Retry after 60 seconds.", {
    headers: { "retry-after": "60" },
  });
}

const lookEveryMs = 1_000;
const beatMs = 5_000;
/** Entries per read; a few milliseconds on SQLite at worst. */
const entriesPerLook = 500;
/** An entry's time is when its work starts, but it appears only when that is committed, on any instance. */
const lateMs = 10_000;

interface Watched extends LogFilter {
  accountId: string;
  /** Entries from shortly before may be sent again; their ids identify them. */
  sinceMs: number;
  /** Checked before anything is sent: an ended session sees nothing more. */
  mayWatch: () => Promise<boolean>;
}

/** One server-sent event per entry, until `signal` is aborted or the watcher loses access. */
async function* streamLogs(
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

/** Rereads the last few seconds each time and skips entries already found. */
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
    // A full batch may have stopped before the newest entries: continue from there, then reread the last few seconds.
    const hasMore = end !== null && end.count === entriesPerLook && end.id !== from;
    from = hasMore ? end.id : again;
    return { fresh, hasMore };
  };
}

function formatEntry(row: Parameters<typeof toLog>[0]): string {
  // JSON has no raw line breaks, so one data line is enough. A reconnected stream continues from the id.
  return `id: ${row.created_at}\ndata: ${JSON.stringify(toLog(row))}\n\n`;
}
