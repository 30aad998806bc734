import { RATE_LIMITS, RATE_WINDOW_SEC, type RateBucket } from "@upstow/contract";
import type { FastifyInstance, onRequestHookHandler } from "fastify";
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

interface Window {
  name: string;
  limit: number;
  policy: string;
}

function countTo(bucket: RateBucket, limiter: RateLimiter): onRequestHookHandler {
  // The calls of a key share one actor while nothing changes, and a text that is made once is hashed once.
  const windows = new WeakMap<Actor, Window>();

  function windowOf(actor: Actor): Window {
    let window = windows.get(actor);
    if (window === undefined) {
      const limit = limitFor(actor, bucket);
      const policy = `"${bucket}";q=${limit};w=${RATE_WINDOW_SEC}`;
      window = { name: `key:${actor.keyId}:${bucket}`, limit, policy };
      windows.set(actor, window);
    }
    return window;
  }

  return (request, reply, done) => {
    const { name, limit, policy } = windowOf(request.actor);
    const tell = (hit: RateLimitResult) => {
      reply.header("ratelimit-policy", policy);
      reply.header("ratelimit", `"${bucket}";r=${hit.remaining};t=${hit.resetSec}`);
      done(hit.isAllowed ? undefined : rateLimited(hit));
    };
    const hit = limiter.hit(name, limit);
    if (hit instanceof Promise) hit.then(tell, done);
    else tell(hit);
  };
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
