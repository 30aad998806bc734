import { LOG_TYPE_MAX, SEARCH_TERM_MAX, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { foldCase } from "../../files/search/text-match.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { AppError } from "../../kernel/errors.ts";
import { createOpenStreams } from "../../webhooks/open-streams.ts";
import { enterProject } from "../access.ts";
import { findLastingSession } from "../session-queries.ts";
import { streamLogs } from "./log-stream.ts";

const Query = Type.Object({
  type: Type.Optional(Type.String({ maxLength: LOG_TYPE_MAX })),
  text: Type.Optional(Type.String({ maxLength: SEARCH_TERM_MAX })),
});

/** What happens in the project, as it happens. */
export function logStreamRoutes(app: ApiApp, deps: Deps): void {
  const streams = createOpenStreams();
  app.addHook("preClose", () => streams.closeAll());

  app.get(
    "/logs/stream",
    { exposeHeadRoute: false, schema: { querystring: Query } },
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
