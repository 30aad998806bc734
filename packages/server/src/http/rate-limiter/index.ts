import type { FastifyBaseLogger } from "fastify";
import type { Database } from "../../db/database.ts";
import { createDatabaseRateLimiter } from "./database.ts";
import { createMemoryRateLimiter } from "./memory.ts";
import { type OpenRateLimiter, openRedisRateLimiter } from "./redis.ts";

export interface RateLimiterOptions {
  db: Database;
  redisUrl: string | null;
  windowMs: number;
  now: () => number;
  log: FastifyBaseLogger;
}

/** In memory for the embedded database, which has one server; else shared, through Redis where there is one. */
export async function openRateLimiter(options: RateLimiterOptions): Promise<OpenRateLimiter> {
  const { db, redisUrl, windowMs, now, log } = options;
  const own =
    db.dialect === "sqlite"
      ? createMemoryRateLimiter(windowMs, now)
      : createDatabaseRateLimiter(db, windowMs);
  if (redisUrl === null) return { ...own, close: async () => {} };
  return openRedisRateLimiter({ url: redisUrl, windowMs, fallback: own, log });
}
