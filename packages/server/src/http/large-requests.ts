import type { IncomingMessage, ServerResponse } from "node:http";
import { LARGE_BODY_BYTES, LARGE_REQUESTS_AT_ONCE } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../kernel/errors.ts";
import { addRouteHook } from "./request-context.ts";

/**
 * Bounds how many whole requests of an account are in memory and under way; `FairTurns` decides whose step runs next.
 * Long bodies, batches and long lists cost up to 10 ms and a few megabytes each, or a transaction per file. An account's
 * rate limits allow hundreds of them at once, which together would block everyone for seconds. So an account has a few
 * places for them. Further requests wait with their bodies unread, and small ones pass.
 */
export function limitLargeRequests(
  app: FastifyInstance,
  accountOf: (request: FastifyRequest) => string,
): void {
  const places = createPlaces(LARGE_REQUESTS_AT_ONCE);
  app.addHook("onRoute", (route) => {
    const isAlwaysLarge = route.config?.isLarge === true;
    const { handler } = route;
    route.handler = function work(request, reply) {
      return places.keepFor(reply.raw, () => handler.call(this, request, reply));
    };
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
  /**
   * Calls `start` when one of the account's places is free. The place is free again when the response has ended, and
   * with it the work that keeps the place.
   */
  take(accountId: string, response: ServerResponse, start: () => void): void;
  /** Runs the work of a response. It goes on when the client hangs up, so hanging up must not make room for more. */
  keepFor<T>(response: ServerResponse, work: () => T): T;
}

function createPlaces(most: number): Places {
  const lines = new Map<string, Line>();
  /** The responses that have a place, each with its work once that has begun. */
  const holders = new WeakMap<ServerResponse, { work: unknown }>();

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
      const holder = { work: undefined };
      holders.set(response, holder);
      response.once("close", () => {
        if (line.waiting.delete(start)) return;
        const end = () => leave(accountId, line);
        Promise.resolve(holder.work).then(end, end);
      });
      if (line.taken === most) {
        line.waiting.add(start);
        return;
      }
      line.taken++;
      start();
    },
    keepFor(response, work) {
      const holder = holders.get(response);
      if (holder === undefined) return work();
      if (response.destroyed) throw hungUp();
      const begun = work();
      holder.work = begun;
      return begun;
    },
  };
}

const hungUp = () =>
  new AppError("SERVICE_UNAVAILABLE", "The client hung up before its request was handled.");
