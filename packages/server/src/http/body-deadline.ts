import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../kernel/errors.ts";
import { rawErrorResponse } from "./error-handler.ts";
import { addRouteHook } from "./route-hooks.ts";

/** A JSON body is small: one that takes longer than this is sent slowly to keep us busy. */
const jsonWithinMs = 30_000;
const looksPerDeadline = 6;
/** No body is waited for any longer. */
export const JSON_CUT_AFTER_MS = jsonWithinMs + jsonWithinMs / looksPerDeadline;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

/** Of a connection, over which one body comes after another. */
interface Arrival {
  request: FastifyRequest | null;
  since: number;
}

export function limitBodyTime(
  app: FastifyInstance,
  withinMs = jsonWithinMs,
  onCut: () => void = () => {},
): void {
  // One clock for all: a timer for every request costs more than reading its body.
  const arrivals = new Map<Socket, Arrival>();
  const clock = setInterval(
    () => cutOff(arrivals.values(), performance.now() - withinMs, onCut),
    withinMs / looksPerDeadline,
  );
  clock.unref();
  const expect = (request: FastifyRequest) => {
    const { socket, complete } = request.raw;
    // Nothing more comes of it where its key was looked up meanwhile, and the record may be of the next one already.
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
    // A refused request is answered without its body being read to the end.
    addRouteHook(route, "onResponse", hasArrived);
  });
}

function cutOff(arrivals: Iterable<Arrival>, before: number, onCut: () => void): void {
  for (const arrival of arrivals) {
    const { request, since } = arrival;
    if (request === null || since > before) continue;
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

/** An answer that does not wait for the end of the body, as most refusals do, ends its connection. */
export function lingerAfterEarlyAnswers(http: FastifyInstance): void {
  http.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (raw.complete || !hasBody(raw)) {
      done(null, payload);
      return;
    }
    // A small body may be here already, behind the headers; then the connection can go on.
    setImmediate(() => {
      lingerAfterAnswer(raw, reply.raw);
      done(null, payload);
    });
  });
}

/**
 * To be called before the answer. Closing a socket that holds unread bytes makes the kernel reset it, and the client
 * would lose the answer: so the connection is closed for writing, what still arrives is thrown away for a while, and
 * only then it is cut.
 */
export function lingerAfterAnswer({ complete, socket }: IncomingMessage, response: ServerResponse): void {
  if (complete || response.headersSent) return;
  response.setHeader("connection", "close");
  // Node calls this once a last answer is written, having begun to discard the rest of the body.
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
