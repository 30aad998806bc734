import { LogPage, LogQuery } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { parseMoment } from "../../http/moment.ts";
import { encodeCursor, endPage, startPage } from "../../http/paging.ts";
import { firstIdAt } from "../../kernel/ids.ts";
import { findLogsOfType } from "./find-logs-of-type.ts";
import { listLogs } from "./queries.ts";
import { toLog } from "./to-log.ts";

export function logRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/logs",
    {
      schema: {
        tags: ["logs"],
        summary: "List what happened, newest first",
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
