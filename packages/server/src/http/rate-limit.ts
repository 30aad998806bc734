import { RATE_LIMITS, RATE_WINDOW_SEC, type RateBucket } from "@upstow/contract";
import type { FastifyInstance } from "fastify";
import { AppError } from "../errors.ts";
import type { Actor } from "../features/api-keys/actor.ts";
import type { RateLimiter, RateLimitResult } from "../ports/rate-limiter.ts";

/** Three windows a key; every answer says how much is left (IETF RateLimit fields). */
export function limitRates(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook("onRequest", async (request, reply) => {
    const bucket = request.routeOptions.config.bucket ?? "other";
    const limit = limitFor(request.actor, bucket);
    const hit = await limiter.hit(`key:${request.actor.keyId}:${bucket}`, limit);
    reply.header("ratelimit-policy", `"${bucket}";q=${limit};w=${RATE_WINDOW_SEC}`);
    reply.header("ratelimit", `"${bucket}";r=${hit.remaining};t=${hit.resetSec}`);
    if (!hit.isAllowed) throw rateLimited(hit);
  });
}

export function rateLimited(hit: RateLimitResult): AppError {
  return new AppError("RATE_LIMITED", `Rate limit exceeded. Retry after ${hit.resetSec} seconds.`, {
    headers: { "retry-after": String(hit.resetSec) },
  });
}

function limitFor(actor: Actor, bucket: RateBucket): number {
  const own = { upload: actor.rateUpload, transform: actor.rateTransform, other: actor.rateOther }[bucket];
  return (actor.tier === "enterprise" ? own : null) ?? RATE_LIMITS[bucket];
}
