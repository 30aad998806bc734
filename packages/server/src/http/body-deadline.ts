import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";
import { rawErrorResponse } from "./error-handler.ts";

/** A JSON body is small: one that takes longer than this is sent slowly to keep us busy. */
const jsonWithinMs = 30_000;

export function limitBodyTime(app: FastifyInstance, withinMs = jsonWithinMs): void {
  app.addHook("preParsing", async (request, _reply, payload) => {
    const { headers, socket } = request.raw;
    if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
    const timer = setTimeout(() => {
      const refusal = new AppError("VALIDATION_ERROR", "The body did not arrive in time.", { status: 408 });
      socket.end(rawErrorResponse(refusal, request.id), () => socket.destroy());
    }, withinMs);
    payload.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
  });
}
