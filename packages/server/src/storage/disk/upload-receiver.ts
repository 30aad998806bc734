import type { IncomingMessage, ServerResponse } from "node:http";
import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";
import { AppError } from "../../kernel/errors.ts";
import { addressGroup } from "../../kernel/net/cidr-list.ts";
import { type RateLimiter, rateLimited } from "../../kernel/rate-limiter.ts";
import { fileIdIn, keyOfObject, uploadPath } from "../storage-key.ts";
import type { BlobWriter } from "./blob-writer.ts";
import type { Arrivals } from "./free-space.ts";
import type { UploadTarget, UploadTokens } from "./presigned-url.ts";
import { lengthRequired, refused, sendContinue, urlExpired, wrongType } from "./refusals.ts";
import type { StagedUploads } from "./staged-uploads.ts";

export { uploadPath };

/** The holder of a URL may use it from any page, and needs to read the ETag. */
export const uploadCorsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, X-Request-Id",
} as const;

/** Responds to a browser's preflight for a PUT: any header is allowed. */
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
  /** Receives the PUT of a presigned URL and resolves once its bytes are durable. Rejections are thrown as `AppError`. */
  receive(request: IncomingMessage, response: ServerResponse): Promise<{ etag: string; key: string }>;
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
  if (target === null || request.method !== "PUT") throw refused("Invalid upload URL.");
  if (now >= target.expiresAt) throw urlExpired(target);
  return target;
}

/** What the signature covers besides the URL: the type and length of a single upload, the maximum of a part. */
function checkHeaders(request: IncomingMessage, target: UploadTarget): number {
  const length = request.headers["content-length"];
  if (length === undefined) throw lengthRequired();
  const sizeBytes = Number(length);
  if (target.kind === "part") {
    if (sizeBytes > target.maxBytes) throw refused("The part is larger than the whole file.");
    return sizeBytes;
  }
  if (sizeBytes !== target.sizeBytes)
    throw refused(`This upload URL accepts exactly ${target.sizeBytes} bytes.`);
  // Compared byte for byte, as in a bucket: what works here must work on every store. HTTP itself trims trailing spaces.
  if (request.headers["content-type"] !== target.contentType.trimEnd()) throw wrongType(target.contentType);
  return sizeBytes;
}

/** Accepts PUTs to presigned URLs. Valid ones are never rate limited; guessing is. The receiver decides. */
export function presignedUploadRoutes(
  app: FastifyInstance,
  receiver: UploadReceiver,
  limiter: RateLimiter,
): void {
  const schema = { hide: true };

  async function limitGuessing(request: FastifyRequest, error: Error): Promise<Error> {
    if (!(error instanceof AppError) || error.status !== 403) return error;
    const hit = await limiter.hit(`put:${addressGroup(request.clientAddress)}`, ADDRESS_LIMITS.failedPut);
    return hit.isAllowed ? error : rateLimited(hit);
  }

  // The receiver reads the body itself, whatever its type, so it must respond before the framework reads one.
  const answer: onRequestHookHandler = (request, reply, done) => {
    reply.headers(uploadCorsHeaders);
    receiver.receive(request.raw, reply.raw).then(
      ({ etag, key }) => {
        request.fileId = fileIdIn(keyOfObject(key));
        reply.header("etag", `"${etag}"`).send();
      },
      (error) => limitGuessing(request, error).then(done, done),
    );
  };
  const config = { whileReadOnly: true, signedUrl: true };
  app.put(`${uploadPath}*`, { schema, config, onRequest: answer }, () => {});

  app.options(`${uploadPath}*`, { schema }, async (request, reply) =>
    reply.code(204).headers(preflightHeaders(request.raw)).send(),
  );
}
