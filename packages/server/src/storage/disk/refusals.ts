import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { PUT_TAKEOVER_SEC } from "@upstow/contract";
import { AppError, nothingKept } from "../../kernel/errors.ts";
import type { UploadTarget } from "./presigned-url.ts";

const startAfresh = "Request a new upload and use the URL it returns.";

export const refused = (message: string, suggestion = startAfresh) =>
  new AppError("FORBIDDEN", message, { suggestion });

const renewals: Record<UploadTarget["kind"], string> = {
  single: "Call POST /upload/request again and use the uploadUrl and fileId it returns.",
  part: "Call POST /upload/multipart/sign with the fileId, uploadId and this part's number for a new URL; uploaded parts are kept.",
};

export const urlExpired = ({ kind }: UploadTarget) => refused("This upload URL has expired.", renewals[kind]);

export const wrongType = (type: string) =>
  refused(
    `This upload URL accepts only the Content-Type '${type}'.`,
    `Send exactly the header 'Content-Type: ${type}'.`,
  );

export const uploadEnded = () => refused("This upload has ended; its URL no longer accepts bytes.");

export const tooManyBytes = () =>
  new AppError("FORBIDDEN", "The parts together are larger than the file.", {
    suggestion: "Split the file so that its parts add up to the announced size.",
  });

export const lengthRequired = () =>
  new AppError("VALIDATION_ERROR", "The upload needs a Content-Length.", {
    status: 411,
    suggestion: "Send the body's size in the header 'Content-Length', without chunked encoding.",
  });

export const uploadBusy = () =>
  new AppError("CONFLICT", "Another request is already sending the body for this upload URL.", {
    suggestion: `Wait for it to finish, or retry in ${PUT_TAKEOVER_SEC} seconds.`,
    headers: { "retry-after": String(PUT_TAKEOVER_SEC) },
  });

/** For the older of two bodies; its client has most likely disconnected. */
export const replacedByNewer = () =>
  new AppError("CONFLICT", "The body stalled, and a newer request for the same upload URL replaced it.", {
    suggestion: nothingKept,
    headers: { connection: "close" },
  });

export const bodyTooSlow = () =>
  new AppError("VALIDATION_ERROR", "The body arrived too slowly and was cut off.", {
    status: 408,
    suggestion: nothingKept,
    headers: { connection: "close" },
  });

const waiting = new WeakSet<IncomingMessage>();

/**
 * Lets an upload be rejected before its bytes are sent: by default Node responds to `Expect: 100-continue` immediately,
 * before the request is checked.
 */
export function deferContinue(server: Server, isDeferred: (request: IncomingMessage) => boolean): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (isDeferred(request)) waiting.add(request);
    else response.writeContinue();
    server.emit("request", request, response);
  });
}

export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}
