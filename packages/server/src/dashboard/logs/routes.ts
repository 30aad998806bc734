import { LOG_TYPE_MAX, LogQuery, SEARCH_TERM_MAX, Type } from "@upstow/contract";
import type { LogTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { admitSearch, dashboardBudget, foldCase, lookThrough, type Span } from "../../files/look-through.ts";
import { boundsOf, encodeCursor, endPage, startPage } from "../../http/paging.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { AppError } from "../../kernel/errors.ts";
import { toLog } from "../../projects/logs/routes.ts";
import { createOpenStreams } from "../../webhooks/open-streams.ts";
import { enterProject } from "../access.ts";
import { findLastingSession } from "../queries.ts";
import { streamLogs } from "./log-stream.ts";
import { measureLogs, searchLogs } from "./queries.ts";

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
    const rows: LogTable[] = [];
    const search = {
      dialect: db.dialect,
      turns,
      accountId,
      budget: dashboardBudget,
      measure: async (span: Span & { rows: number }) =>
        (await db.get(measureLogs, { ...wanted, ...span })) ?? { id: null, count: 0, bytes: 0 },
      async read(stretch: Span) {
        rows.push(...(await db.all(searchLogs, { ...wanted, ...stretch, take: take - rows.length })));
        return { isEnough: rows.length === take, dropped: 0 };
      },
    };
    const scannedTo = await lookThrough(search, boundsOf(query, before));
    const { shown, nextCursor, hasMore } = endPage(rows, take);
    const logs = shown.map(toLog);
    if (scannedTo === null) return { logs, nextCursor, hasMore };
    return { logs, nextCursor: encodeCursor(scannedTo), hasMore: true };
  });
}

const StreamQuery = Type.Object({
  type: Type.Optional(Type.String({ maxLength: LOG_TYPE_MAX })),
  text: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
});

/** What happens in the project, as it happens. */
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
          // Some proxies hold a response back until they have a buffer full.
          .header("x-accel-buffering", "no")
          .header("connection", "close")
          .send(stream)
      );
    },
  );
}

function tooManyStreams(): AppError {
  return new AppError("RATE_LIMITED", "You already watch too many logs. Retry after 60 seconds.", {
    headers: { "retry-after": "60" },
  });
}
