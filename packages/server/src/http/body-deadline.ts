import type { FastifyInstance, preParsingHookHandler } from "fastify";
import { AppError } from "../errors.ts";
import { rawErrorResponse } from "./error-handler.ts";

/** A JSON body is small: one that takes longer than this is sent slowly to keep us busy. */
const jsonWithinMs = 30_000;

export function limitBodyTime(app: FastifyInstance, withinMs = jsonWithinMs): void {
  const startClock: preParsingHookHandler = (request, reply, payload, done) => {
    const { headers, socket } = request.raw;
    if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) {
      const timer = setTimeout(() => {
        const refusal = new AppError("VALIDATION_ERROR", "The body did not arrive in time.", { status: 408 });
        socket.end(rawErrorResponse(refusal, request.id), () => socket.destroy());
      }, withinMs);
      // A refused request is answered without its body being read to the end.
      reply.raw.once("close", () => clearTimeout(timer));
      payload.once("end", () => clearTimeout(timer));
    }
    done(null, payload);
  };
  app.addHook("onRoute", (route) => {
    if (route.method === "GET" || route.method === "HEAD") return;
    route.preParsing = [startClock, ...[route.preParsing ?? []].flat()];
  });
}
