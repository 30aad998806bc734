import type { IncomingMessage, ServerResponse } from "node:http";
import { LARGE_BODY_BYTES, LARGE_REQUESTS_AT_ONCE } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { addRouteHook } from "./request-context.ts";

/**
 * Long bodies, batches and long lists cost up to 10 ms and a few megabytes each. An account's rate limits allow hundreds
 * of them at once, which together would block everyone for seconds. So an account has a few places for them. Further
 * requests wait with their bodies unread, and small ones pass.
 */
export function limitLargeRequests(
  app: FastifyInstance,
  accountOf: (request: FastifyRequest) => string,
): void {
  const places = createPlaces(LARGE_REQUESTS_AT_ONCE);
  app.addHook("onRoute", (route) => {
    const isAlwaysLarge = route.config?.isLarge === true;
    addRouteHook(route, "preParsing", (request, reply, payload, done) => {
      if (isAlwaysLarge || hasLargeBody(request.raw))
        places.take(accountOf(request), reply.raw, () => done(null, payload));
      else done(null, payload);
    });
  });
}

/** A chunked body may become large. */
function hasLargeBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  const length = headers["content-length"];
  return length !== undefined && Number(length) > LARGE_BODY_BYTES;
}

interface Line {
  taken: number;
  /** In order of arrival. */
  waiting: Set<() => void>;
}

interface Places {
  /** Calls `start` when one of the account's places is free. The place is free again when the response has ended. */
  take(accountId: string, response: ServerResponse, start: () => void): void;
}

function createPlaces(most: number): Places {
  const lines = new Map<string, Line>();

  function leave(accountId: string, line: Line): void {
    const [next] = line.waiting;
    if (next !== undefined) {
      line.waiting.delete(next);
      // Others get a turn of the event loop in between.
      setImmediate(next);
      return;
    }
    line.taken--;
    if (line.taken === 0) lines.delete(accountId);
  }

  return {
    take(accountId, response, start) {
      if (response.destroyed) return;
      const line = lines.get(accountId) ?? { taken: 0, waiting: new Set() };
      lines.set(accountId, line);
      response.once("close", () => {
        if (!line.waiting.delete(start)) leave(accountId, line);
      });
      if (line.taken === most) {
        line.waiting.add(start);
        return;
      }
      line.taken++;
      start();
    },
  };
}
