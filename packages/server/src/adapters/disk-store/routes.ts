import { ADDRESS_LIMITS } from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../errors.ts";
import { rateLimited } from "../../http/rate-limit.ts";
import { addressBucket } from "../../net/address-bucket.ts";
import type { RateLimiter } from "../../ports/rate-limiter.ts";
import { preflightHeaders, type UploadReceiver, uploadCorsHeaders, uploadPath } from "./upload-receiver.ts";

/** Takes PUTs to presigned URLs. Valid ones are never limited; guessing is. The receiver has the last word. */
export function presignedUploadRoutes(
  app: FastifyInstance,
  receiver: UploadReceiver,
  limiter: RateLimiter,
): void {
  const schema = { hide: true };
  app.register(async (scope) => {
    // The receiver reads the body itself, whatever its type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));

    const config = { whileReadOnly: true };
    scope.put(
      `${uploadPath}*`,
      { schema, config, bodyLimit: Number.MAX_SAFE_INTEGER },
      async (request, reply) => {
        reply.headers(uploadCorsHeaders);
        try {
          const { etag } = await receiver.receive(request.raw, reply.raw);
          return reply.header("etag", `"${etag}"`).send();
        } catch (error) {
          if (!(error instanceof AppError) || error.status !== 403) throw error;
          const hit = await limiter.hit(
            `put:${addressBucket(request.clientAddress)}`,
            ADDRESS_LIMITS.failedPut,
          );
          throw hit.isAllowed ? error : rateLimited(hit);
        }
      },
    );

    scope.options(`${uploadPath}*`, { schema }, async (request, reply) =>
      reply.code(204).headers(preflightHeaders(request.raw)).send(),
    );
  });
}
