import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { rawErrorResponse } from "./error-handler.ts";

/** A JSON body is small: one that takes longer than this is sent slowly to keep us busy. */
const jsonWithinMs = 30_000;
const looksPerDeadline = 6;
/** No body is waited for any longer. */
export const JSON_CUT_AFTER_MS = jsonWithinMs + jsonWithinMs / looksPerDeadline;

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;

export function limitBodyTime(app: FastifyInstance, withinMs = jsonWithinMs): void {
  // One clock for all: a timer for every request costs more than reading its body.
  const arriving = new Map<FastifyRequest, number>();
  const clock = setInterval(
    () => cutOff(arriving, performance.now() - withinMs),
    withinMs / looksPerDeadline,
  );
  clock.unref();
  const hasArrived = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    arriving.delete(request);
    done();
  };
  app.addHook("onClose", (_app, done) => {
    clearInterval(clock);
    done();
  });
  app.addHook("onRoute", (route) => {
    if (route.method === "GET" || route.method === "HEAD") return;
    route.preParsing = [
      (request, _reply, payload, done) => {
        if (hasBody(request.raw)) arriving.set(request, performance.now());
        done(null, payload);
      },
      ...[route.preParsing ?? []].flat(),
    ];
    route.preValidation = [hasArrived, ...[route.preValidation ?? []].flat()];
    // A refused request is answered without its body being read to the end.
    route.onResponse = [hasArrived, ...[route.onResponse ?? []].flat()];
  });
}

function cutOff(arriving: Map<FastifyRequest, number>, before: number): void {
  for (const [request, since] of arriving) {
    if (since > before) return;
    arriving.delete(request);
    const { socket } = request.raw;
    const refusal = new AppError("VALIDATION_ERROR", "The body did not arrive in time.", { status: 408 });
    if (socket.writable) socket.end(rawErrorResponse(refusal, request.id), () => socket.destroy());
  }
}
