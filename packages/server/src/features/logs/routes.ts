import { LogPage, LogQuery } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { invalid } from "../../errors.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { endPage, startPage } from "../../http/paging.ts";
import { firstIdAt } from "../../ids.ts";
import { listLogs, listLogsOfType } from "./queries.ts";
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
        from: query.since === undefined ? "" : firstIdSince(query.since),
      };
      const rows =
        query.type === undefined
          ? await deps.db.all(listLogs, filter)
          : await deps.db.all(listLogsOfType, { ...filter, type: query.type });
      const { shown, nextCursor, hasMore } = endPage(rows, page.take);
      return { logs: shown.map(toLog), nextCursor, hasMore };
    },
  );
}

function firstIdSince(since: string): string {
  const timeMs = Date.parse(since);
  // A leap second is a valid date-time that JavaScript cannot express.
  if (Number.isNaN(timeMs)) throw invalid("since", "is not a moment this service knows");
  return firstIdAt(timeMs);
}
