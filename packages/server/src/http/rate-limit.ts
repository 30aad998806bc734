import { ACCOUNT_RATE_FACTOR, RATE_WINDOW_SEC, type RateBucket } from "@upstow/contract";
import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Actor } from "../features/api-keys/actor.ts";
import { rateLimitFor } from "../features/api-keys/rate-limit-for.ts";
import type { RateLimitPair, RateLimitResult, RateWindow } from "../ports/rate-limiter.ts";

type LimitDeps = Pick<Deps, "config" | "limiter" | "log">;

/** Three windows per key, beside wider ones per account; every response says how much is left (IETF RateLimit fields). */
export function limitRates(app: FastifyInstance, deps: LimitDeps): void {
  app.addHook("onRoute", (route) => {
    const count = countTo(route.config?.bucket ?? "other", deps);
    route.onRequest = [count, ...[route.onRequest ?? []].flat()];
  });
}

interface Windows {
  key: RateWindow;
  account: RateWindow;
  policy: string;
}

function countTo(bucket: RateBucket, { config, limiter, log }: LimitDeps): onRequestHookHandler {
  // The calls of a key share one actor while nothing changes, and a text that is made once is hashed once.
  const known = new WeakMap<Actor, Windows | null>();
  const mention = createMentions((actor: Actor, of: string, limit: number) =>
    log.warn(
      { keyId: actor.keyId, projectId: actor.projectId, accountId: actor.accountId, window: bucket, limit },
      `${of} met its rate limit; raise it with UPSTOW_RATE_LIMITS, or for one Enterprise account in the dashboard or with \`upstow account set-limits\``,
    ),
  );

  function windowsOf(actor: Actor): Windows | null {
    let windows = known.get(actor);
    if (windows === undefined) {
      windows = createWindows(actor, bucket, rateLimitFor(actor, bucket, config.rateLimits));
      known.set(actor, windows);
    }
    return windows;
  }

  return (request, reply, done) => {
    const { actor } = request;
    const windows = windowsOf(actor);
    if (windows === null) {
      done();
      return;
    }
    const tell = ({ own, shared }: RateLimitPair) => {
      const isAccountFull = shared !== null && !shared.isAllowed;
      const hit = isAccountFull ? shared : own;
      reply.header("ratelimit-policy", isAccountFull ? policyOf(bucket, windows.account) : windows.policy);
      reply.header("ratelimit", `"${bucket}";r=${hit.remaining};t=${hit.resetSec}`);
      if (hit.isAllowed) {
        done();
        return;
      }
      const { name, limit } = isAccountFull ? windows.account : windows.key;
      mention(name, hit.resetSec, actor, isAccountFull ? "an account" : "a key", limit);
      done(rateLimited(hit));
    };
    const hit = limiter.hitBoth(windows.key, windows.account);
    if (hit instanceof Promise) hit.then(tell, done);
    else tell(hit);
  };
}

function createWindows(actor: Actor, bucket: RateBucket, limit: number | null): Windows | null {
  if (limit === null) return null;
  const key = { name: `key:${actor.keyId}:${bucket}`, limit };
  const account = { name: `account:${actor.accountId}:${bucket}`, limit: limit * ACCOUNT_RATE_FACTOR };
  return { key, account, policy: policyOf(bucket, key) };
}

const policyOf = (bucket: RateBucket, { limit }: RateWindow) => `"${bucket}";q=${limit};w=${RATE_WINDOW_SEC}`;

const mostMentioned = 10_000;

/** One line per window: a client that keeps calling would fill the log. */
function createMentions<Args extends unknown[]>(
  tell: (...args: Args) => void,
): (name: string, resetSec: number, ...args: Args) => void {
  const mentioned = new Map<string, number>();
  return (name, resetSec, ...args) => {
    const now = performance.now();
    if (now < (mentioned.get(name) ?? 0)) return;
    if (mentioned.size >= mostMentioned) mentioned.clear();
    mentioned.set(name, now + resetSec * 1000);
    tell(...args);
  };
}

export function rateLimited(hit: RateLimitResult): AppError {
  return new AppError("RATE_LIMITED", `Rate limit exceeded. Retry after ${hit.resetSec} seconds.`, {
    headers: { "retry-after": String(hit.resetSec) },
  });
}
