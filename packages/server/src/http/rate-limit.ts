import { RATE_LIMITS, RATE_WINDOW_SEC, type RateBucket } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, onRequestHookHandler } from "fastify";
import { AppError } from "../errors.ts";
import type { Actor } from "../features/api-keys/actor.ts";
import type { RateLimiter, RateLimitResult } from "../ports/rate-limiter.ts";

/** Three windows a key; every answer says how much is left (IETF RateLimit fields). */
export function limitRates(app: FastifyInstance, limiter: RateLimiter): void {
  app.addHook("onRoute", (route) => {
    const count = countTo(route.config?.bucket ?? "other", limiter);
    route.onRequest = [count, ...[route.onRequest ?? []].flat()];
  });
}

function countTo(bucket: RateBucket, limiter: RateLimiter): onRequestHookHandler {
  return (request, reply, done) => {
    const limit = limitFor(request.actor, bucket);
    const tell = (hit: RateLimitResult) => done(describe(reply, bucket, limit, hit));
    const hit = limiter.hit(`key:${request.actor.keyId}:${bucket}`, limit);
    if (hit instanceof Promise) hit.then(tell, done);
    else tell(hit);
  };
}

function describe(
  reply: FastifyReply,
  bucket: RateBucket,
  limit: number,
  hit: RateLimitResult,
): AppError | undefined {
  reply.header("ratelimit-policy", `"${bucket}";q=${limit};w=${RATE_WINDOW_SEC}`);
  reply.header("ratelimit", `"${bucket}";r=${hit.remaining};t=${hit.resetSec}`);
  return hit.isAllowed ? undefined : rateLimited(hit);
}

export function rateLimited(hit: RateLimitResult): AppError {
  return new AppError("RATE_LIMITED", `Rate limit exceeded. Retry after ${hit.resetSec} seconds.`, {
    headers: { "retry-after": String(hit.resetSec) },
  });
}

function limitFor(actor: Actor, bucket: RateBucket): number {
  if (actor.tier !== "enterprise") return RATE_LIMITS[bucket];
  const own =
    bucket === "upload" ? actor.rateUpload : bucket === "transform" ? actor.rateTransform : actor.rateOther;
  return own ?? RATE_LIMITS[bucket];
}
