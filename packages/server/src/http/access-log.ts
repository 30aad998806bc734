import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from "fastify";
import { Gauge, type Registry } from "prom-client";
import type { WorkSource } from "../kernel/event-loop-guard.ts";

/**
 * One line per request. Logs the route's pattern instead of the path, because paths and queries of presigned and signed
 * URLs contain signatures.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  if (!["info", "debug", "trace"].includes(log.level)) return;
  app.addHook("onResponse", (request, reply, done) => {
    log.info(
      {
        requestId: request.id,
        traceId: request.traceId,
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        keyId: request.actor?.keyId,
        projectId: request.actor?.projectId,
      },
      "request",
    );
    done();
  });
}

/** Beyond this, the oldest are dropped: most of them are downloads waiting for their readers. */
const mostRemembered = 1_000;
/** A handler may still be working after its client disconnected. An aborted stream never reports its end. */
const forgottenAfterHangUpMs = 60_000;

/** Requests being handled. On the hot path this is one push; the guard's next tick removes those that have ended. */
export function trackRequests(app: FastifyInstance, metrics: Registry): WorkSource {
  let replies: FastifyReply[] = [];
  new Gauge({
    name: "upstow_http_requests_in_flight",
    help: `Requests being handled, up to ${mostRemembered}.`,
    registers: [metrics],
    collect() {
      this.set(replies.filter(isRunning).length);
    },
  });
  app.addHook("onRequest", (_request, reply, done) => {
    replies.push(reply);
    done();
  });
  return {
    list: () =>
      replies.map((reply) => ({
        name: `${reply.request.method} ${reply.request.routeOptions.url ?? "of an unknown path"}`,
        requestId: reply.request.id,
        ms: reply.elapsedTime,
      })),
    forgetFinished() {
      if (replies.length > 0) replies = replies.filter(isRunning).slice(-mostRemembered);
    },
  };
}

function isRunning(reply: FastifyReply): boolean {
  const { raw } = reply;
  return !raw.writableEnded && !(raw.destroyed && reply.elapsedTime > forgottenAfterHangUpMs);
}
