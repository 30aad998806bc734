import { HEADERS_MAX, QUERY_PARAMS_MAX, REQUEST_URL_MAX } from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../kernel/errors.ts";
import { ofSignedUrl } from "./signed-url.ts";

/** Rejects what is larger than any client of ours sends, before anything is looked up for it. */
export function limitRequestSize(app: FastifyInstance): void {
  app.addHook("onRequest", ({ raw }, _reply, done) => {
    const { url = "" } = raw;
    // Names and values in turn.
    if (raw.rawHeaders.length > 2 * HEADERS_MAX)
      throw tooLarge(431, `A request can have ${HEADERS_MAX} headers.`);
    if (url.length > REQUEST_URL_MAX)
      throw ofSignedUrl(url) ?? tooLarge(414, `A URL can have ${REQUEST_URL_MAX} characters.`);
    if (countParams(url) > QUERY_PARAMS_MAX)
      throw ofSignedUrl(url) ?? tooLarge(400, `A URL can have ${QUERY_PARAMS_MAX} query parameters.`);
    done();
  });
}

function countParams(url: string): number {
  let count = 0;
  for (let at = url.indexOf("?"); at !== -1; at = url.indexOf("&", at + 1)) count++;
  return count;
}

function tooLarge(status: number, message: string): AppError {
  return new AppError("VALIDATION_ERROR", message, { status, suggestion: "Send a smaller request." });
}
