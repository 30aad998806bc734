import { EventStreamQuery, StreamedEvent } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import type { ApiApp } from "../http/api-app.ts";
import { AppError } from "../kernel/errors.ts";
import { MESSAGES_CHANNEL } from "./announce.ts";
import { findStart, streamEvents } from "./event-stream.ts";
import { createOpenStreams } from "./open-streams.ts";

const busySec = 60;

/** Events as they are committed, on whichever instance; what `upstow listen` reads. */
export function eventStreamRoute(app: ApiApp, deps: Deps): void {
  const streams = createOpenStreams();
  app.addHook("onReady", () => deps.db.listen(MESSAGES_CHANNEL, streams.ringAll));
  app.addHook("preClose", () => streams.closeAll());

  app.get(
    "/events/stream",
    {
      exposeHeadRoute: false,
      schema: {
        tags: ["webhooks"],
        summary: "Stream the events of the key's environment",
        description: `Server-sent events. The data of each is JSON with ${Object.keys(StreamedEvent.properties).join(", ")}; body is the text that is signed and delivered. Send the last id seen as Last-Event-ID to go on behind it. An id without data says where the stream begins, and comments keep the connection alive.`,
        querystring: EventStreamQuery,
      },
    },
    async ({ actor, query, headers }, reply) => {
      const lastEventId = headers["last-event-id"];
      const after = await findStart(deps, actor, lastEventId?.toString(), query.last ?? 0);
      const stream = streams.open(actor, (alarm, signal) => streamEvents(deps, actor, after, alarm, signal));
      if (stream === null) throw tooManyStreams();
      return (
        reply
          .type("text/event-stream; charset=utf-8")
          .header("cache-control", "no-store")
          // Some proxies hold a response back until they have a buffer full.
          .header("x-accel-buffering", "no")
          .header("connection", "close")
          .send(stream)
      );
    },
  );
}

function tooManyStreams(): AppError {
  return new AppError(
    "RATE_LIMITED",
    `This key or its account has too many event streams open. Retry after ${busySec} seconds.`,
    {
      headers: { "retry-after": String(busySec) },
    },
  );
}
