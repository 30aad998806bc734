import type { Socket } from "node:net";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from "fastify";
import { Gauge, type Registry } from "prom-client";
import type { WorkSource } from "../kernel/event-loop-guard.ts";
import { isId } from "../kernel/ids.ts";

/** Asked every few seconds by machines, so they would be most of the log. */
const probes = ["/healthz", "/readyz", "/metrics"];

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
    const { actor, userId } = request;
    const route = request.routeOptions.url;
    const bytes = countBytes(request.raw.socket);
    const line = {
      requestId: request.id,
      traceId: request.traceId,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      address: request.clientAddress,
      bytesIn: bytes.read,
      bytesOut: bytes.written,
      fileId: request.fileId ?? namedFile(request.body),
      keyId: userId === undefined ? actor?.keyId : undefined,
      userId,
      projectId: actor?.projectId,
    };
    if (route !== undefined && probes.includes(route)) log.debug(line, "request");
    else log.info(line, "request");
    done();
  });
}

const counted = Symbol("bytes that earlier lines have counted");

interface CountedSocket extends Socket {
  [counted]?: { read: number; written: number };
}

/** Bytes transferred on the connection since its last log line, headers included. */
function countBytes(socket: CountedSocket): { read: number; written: number } {
  const { bytesRead, bytesWritten } = socket;
  const before = socket[counted];
  socket[counted] = { read: bytesRead, written: bytesWritten };
  if (before === undefined) return { read: bytesRead, written: bytesWritten };
  return { read: bytesRead - before.read, written: bytesWritten - before.written };
}

/** Steps of an upload name their file in the body. */
function namedFile(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("fileId" in body)) return undefined;
  const { fileId } = body;
  return typeof fileId === "string" && isId(fileId) ? fileId : undefined;
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
