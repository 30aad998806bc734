import type { FastifyBaseLogger } from "fastify";
import type { Database } from "../../db/database.ts";
import { type RateLimiter, type RateLimitResult, rateLimitResult } from "../../kernel/rate-limiter.ts";
import { createDatabaseRateLimiter } from "./database.ts";
import { type OpenRateLimiter, openRedisRateLimiter } from "./redis.ts";

export interface RateLimiterOptions {
  db: Database;
  redisUrl: string | null;
  windowMs: number;
  now: () => number;
  log: FastifyBaseLogger;
}

/** In memory for the embedded database, which has one server; otherwise shared, through Redis if configured. */
export async function openRateLimiter(options: RateLimiterOptions): Promise<OpenRateLimiter> {
  const { db, redisUrl, windowMs, now, log } = options;
  const own =
    db.dialect === "sqlite"
      ? createMemoryRateLimiter(windowMs, now)
      : createDatabaseRateLimiter(db, windowMs);
  if (redisUrl === null) return { ...own, check: null, close: async () => {} };
  return openRedisRateLimiter({ url: redisUrl, windowMs, fallback: own, log });
}

const smallestSweep = 10_000;

/** For a single process. Ended windows are dropped once there are many, so a flood of addresses stays bounded. */
export function createMemoryRateLimiter(windowMs: number, now: () => number): RateLimiter {
  const windows = new Map<string, { startedAt: number; count: number }>();
  let sweepAt = smallestSweep;
  // Also in the future: otherwise a clock that was set back would keep a window open for that long.
  const hasEnded = (startedAt: number, time: number) => Math.abs(time - startedAt) >= windowMs;

  function forgetEnded(time: number): void {
    for (const [bucket, window] of windows) {
      if (hasEnded(window.startedAt, time)) windows.delete(bucket);
    }
    // If all windows are still open, don't scan them again for every newcomer.
    sweepAt = Math.max(smallestSweep, windows.size * 2);
  }

  function count(name: string, limit: number, time: number): RateLimitResult {
    let window = windows.get(name);
    if (window === undefined || hasEnded(window.startedAt, time)) {
      if (windows.size >= sweepAt) forgetEnded(time);
      window = { startedAt: time, count: 0 };
      windows.set(name, window);
    }
    window.count++;
    return rateLimitResult(window.count, limit, window.startedAt + windowMs - time);
  }

  return {
    hit: async (name, limit) => count(name, limit, now()),
    async hitBoth(own, shared) {
      const time = now();
      const result = count(own.name, own.limit, time);
      return { own: result, shared: result.isAllowed ? count(shared.name, shared.limit, time) : null };
    },
  };
}
