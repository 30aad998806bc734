import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../kernel/errors.ts";
import { rawErrorResponse } from "./error-handler.ts";
import { addRouteHook } from "./request-context.ts";

/** JSON bodies are small, so one that takes longer than this is a slow-body attack. */
const jsonWithinMs = 30_000;
const looksPerDeadline = 6;
/** Stops waiting for any body. */
export const JSON_CUT_AFTER_MS = jsonWithinMs + jsonWithinMs / looksPerDeadline;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/** Per connection, which carries one body after another. */
interface Arrival {
  request: FastifyRequest | null;
  since: number;
}

export function limitBodyTime(
  app: FastifyInstance,
  withinMs = jsonWithinMs,
  onCut: () => void = () => {},
): void {
  // One shared clock, because a timer per request costs more than reading its body.
  const arrivals = new Map<Socket, Arrival>();
  const clock = setInterval(() => cutOff(arrivals.values(), withinMs, onCut), withinMs / looksPerDeadline);
  clock.unref();
  const expect = (request: FastifyRequest) => {
    const { socket, complete } = request.raw;
    // Its body may have ended during the key lookup, and the record may already belong to the next one.
    if (complete || socket.destroyed) return;
    const arrival = arrivals.get(socket);
    if (arrival === undefined) {
      arrivals.set(socket, { request, since: performance.now() });
      socket.once("close", () => arrivals.delete(socket));
      return;
    }
    arrival.request = request;
    arrival.since = performance.now();
  };
  const hasArrived = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    const arrival = arrivals.get(request.raw.socket);
    if (arrival?.request === request) arrival.request = null;
    done();
  };
  app.addHook("onClose", (_app, done) => {
    clearInterval(clock);
    done();
  });
  app.addHook("onRoute", (route) => {
    if (route.method === "GET" || route.method === "HEAD") return;
    addRouteHook(route, "preParsing", (request, _reply, payload, done) => {
      if (hasBody(request.raw)) expect(request);
      done(null, payload);
    });
    addRouteHook(route, "preValidation", hasArrived);
    // A rejected request gets its response without its body being read to the end.
    addRouteHook(route, "onResponse", hasArrived);
  });
}

function cutOff(arrivals: Iterable<Arrival>, withinMs: number, onCut: () => void): void {
  const now = performance.now();
  for (const arrival of arrivals) {
    const { request } = arrival;
    if (request === null) continue;
    // Not read yet, because the request waits for one of its account's places: the client is not slow.
    if (request.raw.readableFlowing === null) arrival.since = now;
    if (arrival.since > now - withinMs) continue;
    arrival.request = null;
    onCut();
    const { socket } = request.raw;
    const refusal = new AppError("VALIDATION_ERROR", "The body did not arrive in time.", { status: 408 });
    if (socket.writable) socket.end(rawErrorResponse(refusal, request.id), () => socket.destroy());
  }
}

const mostBytes = 8 * 1024 * 1024;
const mostMs = 5000;
const pollMs = 100;

/** A response sent before the end of the body, like most rejections, closes its connection. */
export function lingerAfterEarlyAnswers(http: FastifyInstance): void {
  http.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (raw.complete || !hasBody(raw)) {
      done(null, payload);
      return;
    }
    // A small body may already have arrived with the headers; then the connection can be kept.
    setImmediate(() => {
      lingerAfterAnswer(raw, reply.raw);
      done(null, payload);
    });
  });
}

/**
 * Call it before responding. Closing a socket with unread bytes makes the kernel reset it, and the client would lose
 * the response. So the connection is closed for writing, incoming bytes are discarded for a while, and only then is
 * it cut.
 */
export function lingerAfterAnswer({ complete, socket }: IncomingMessage, response: ServerResponse): void {
  if (complete || response.headersSent) return;
  response.setHeader("connection", "close");
  // Node calls this after the last response is written, when it has started to discard the rest of the body.
  socket.destroySoon = () => lingerOn(socket);
}

function lingerOn(socket: Socket): void {
  socket.end();
  const deadline = performance.now() + mostMs;
  const enough = socket.bytesRead + mostBytes;
  const poll = setInterval(() => {
    if (socket.bytesRead > enough || performance.now() > deadline) socket.destroy();
  }, pollMs);
  poll.unref();
  socket.once("close", () => clearInterval(poll));
}
