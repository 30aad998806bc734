import { LogQuery, SEARCH_TERM_MAX, Type } from "@upstow/contract";
import type { LogTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { admitSearch, dashboardBudget, lookThrough, type Span } from "../../files/search/look-through.ts";
import { foldCase } from "../../files/search/text-match.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { boundsOf } from "../../http/moment.ts";
import { encodeCursor, endPage, startPage } from "../../http/paging.ts";
import { toLog } from "../../projects/logs/to-log.ts";
import { measureLogs, searchLogs } from "./log-search-queries.ts";

const Query = Type.Object({
  ...LogQuery.properties,
  text: Type.String({ minLength: 1, maxLength: SEARCH_TERM_MAX }),
});

/** Lists the log entries that contain a text. A search through many entries may return short or empty pages. */
export function logSearchRoutes(app: ApiApp, deps: Deps): void {
  const { db, turns } = deps;

  app.get("/logs/search", { schema: { querystring: Query } }, async ({ actor, query }) => {
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
