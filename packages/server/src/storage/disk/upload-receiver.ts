import type { IncomingMessage, ServerResponse } from "node:http";
import { uploadPath } from "../upload-path.ts";
import type { Arrivals } from "./arrivals.ts";
import type { BlobWriter } from "./blob-writer.ts";
import { sendContinue } from "./expect-continue.ts";
import type { UploadTarget, UploadTokens } from "./presigned-url.ts";
import { lengthRequired, refused, urlExpired, wrongType } from "./refusals.ts";
import type { StagedUploads } from "./staged-uploads.ts";

export { uploadPath };

/** Anyone who holds a URL may use it from any page, and needs to read the ETag. */
export const uploadCorsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, X-Request-Id",
} as const;

/** Answers a browser's question whether it may PUT: any header is welcome, bytes are bytes. */
export function preflightHeaders(request: IncomingMessage): Record<string, string> {
  const asked = request.headers["access-control-request-headers"] ?? "";
  return {
    ...uploadCorsHeaders,
    "access-control-allow-methods": "PUT",
    "access-control-allow-headers": /^[\w\-, ]+$/.test(asked) ? asked : "*",
    "access-control-max-age": "86400",
    vary: "Access-Control-Request-Headers",
  };
}

export interface UploadReceiver {
  /** Takes the PUT of a presigned URL and resolves once its bytes are durable. A refusal throws an `AppError`. */
  receive(request: IncomingMessage, response: ServerResponse): Promise<{ etag: string }>;
}

export function createUploadReceiver(
  tokens: UploadTokens,
  arrivals: Arrivals,
  uploads: StagedUploads,
  blobs: BlobWriter,
  now: () => number,
): UploadReceiver {
  return {
    async receive(request, response) {
      const target = findTarget(tokens, request, now());
      const sizeBytes = checkHeaders(request, target);
      const arrival = arrivals.enter(target, sizeBytes);
      try {
        return await uploads.stage(target, arrival, () => {
          sendContinue(request, response);
          return blobs.writeBody(request, arrival, target.kind);
        });
      } finally {
        arrival.leave();
      }
    },
  };
}

function findTarget(tokens: UploadTokens, request: IncomingMessage, now: number): UploadTarget {
  const url = request.url ?? "";
  const target = url.startsWith(uploadPath) ? tokens.find(url.slice(uploadPath.length)) : null;
  if (target === null || request.method !== "PUT") throw refused("This upload URL is not valid.");
  if (now >= target.expiresAt) throw urlExpired(target);
  return target;
}

/** What the URL's signature covers besides itself: the type and length of a single upload, the most of a part. */
function checkHeaders(request: IncomingMessage, target: UploadTarget): number {
  const length = request.headers["content-length"];
  if (length === undefined) throw lengthRequired();
  const sizeBytes = Number(length);
  if (target.kind === "part") {
    if (sizeBytes > target.maxBytes) throw refused("The part is larger than the whole file.");
    return sizeBytes;
  }
  if (sizeBytes !== target.sizeBytes)
    throw refused(`This upload URL takes exactly ${target.sizeBytes} bytes.`);
  // Byte for byte, as a bucket compares it: what works here must work on every store. HTTP itself drops spaces at the end.
  if (request.headers["content-type"] !== target.contentType.trimEnd()) throw wrongType(target.contentType);
  return sizeBytes;
}
