import { LogQuery, Type } from "@upstow/contract";
import type { Deps } from "../../../deps.ts";
import type { ApiApp } from "../../../http/api-app.ts";
import { encodeCursor, endPage, startPage } from "../../../http/paging.ts";
import { findLogStretchEnd } from "../../logs/queries.ts";
import { toLog } from "../../logs/to-log.ts";
import { boundsOf, literally } from "../files/search.ts";
import { searchLogs } from "./log-search-queries.ts";

/** As many entries as one call looks at: a search over more answers in parts, some of which may hold nothing. */
const entriesPerCall = 20_000;

const Query = Type.Object({
  ...LogQuery.properties,
  text: Type.String({ minLength: 1, maxLength: 255 }),
});

/** As a list of logs, of those that hold a text. */
export function logSearchRoutes(app: ApiApp, deps: Deps): void {
  app.get("/logs/search", { schema: { querystring: Query } }, async ({ actor, query }) => {
    const { before, take } = startPage(query);
    const { projectId, environment } = actor;
    const bounds = boundsOf(query, before);
    const wanted = { projectId, environment, type: query.type ?? "", pattern: patternOf(query.text) };
    const end = await deps.db.get(findLogStretchEnd, { ...wanted, ...bounds, skip: entriesPerCall - 1 });
    const from = end?.id ?? bounds.from;
    const rows = await deps.db.all(searchLogs, { ...wanted, ...bounds, from, take });
    const { shown, nextCursor, hasMore } = endPage(rows, take);
    const logs = shown.map(toLog);
    if (hasMore || end === null) return { logs, nextCursor, hasMore };
    return { logs, nextCursor: encodeCursor(end.id), hasMore: true };
  });
}

/** Any text where none is given. */
export function patternOf(text: string): string {
  return `%${literally(text)}%`;
}
