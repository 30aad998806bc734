import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from "fastify";
import { AppError } from "../../kernel/errors.ts";
import { addressBucket } from "../../kernel/net/address-bucket.ts";
import type { RateLimiter } from "../../kernel/rate-limiter.ts";
import { rateLimited } from "../../kernel/rate-limiter.ts";
import { preflightHeaders, type UploadReceiver, uploadCorsHeaders, uploadPath } from "./upload-receiver.ts";

/** Takes PUTs to presigned URLs. Valid ones are never limited; guessing is. The receiver has the last word. */
export function presignedUploadRoutes(
  app: FastifyInstance,
  receiver: UploadReceiver,
  limiter: RateLimiter,
): void {
  const schema = { hide: true };

  async function limitGuessing(request: FastifyRequest, error: Error): Promise<Error> {
    if (!(error instanceof AppError) || error.status !== 403) return error;
    const hit = await limiter.hit(`put:${addressBucket(request.clientAddress)}`, ADDRESS_LIMITS.failedPut);
    return hit.isAllowed ? error : rateLimited(hit);
  }

  // The receiver reads the body itself, whatever its type, so the answer comes before the framework would read one.
  const answer: onRequestHookHandler = (request, reply, done) => {
    reply.headers(uploadCorsHeaders);
    receiver.receive(request.raw, reply.raw).then(
      ({ etag }) => reply.header("etag", `"${etag}"`).send(),
      (error) => limitGuessing(request, error).then(done, done),
    );
  };
  const config = { whileReadOnly: true };
  app.put(`${uploadPath}*`, { schema, config, onRequest: answer }, () => {});

  app.options(`${uploadPath}*`, { schema }, async (request, reply) =>
    reply.code(204).headers(preflightHeaders(request.raw)).send(),
  );
}
