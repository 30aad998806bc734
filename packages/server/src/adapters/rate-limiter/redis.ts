import type { FastifyBaseLogger } from "fastify";
import { type RateLimiter, type RateLimitResult, rateLimitResult } from "../../ports/rate-limiter.ts";

export interface OpenRateLimiter extends RateLimiter {
  close(): Promise<void>;
}

export interface RedisOptions {
  url: string;
  windowMs: number;
  /** Counts while Redis is away, so that its loss opens no door. */
  fallback: RateLimiter;
  /** A Redis that is there answers in a millisecond; one that takes this long is as good as lost. */
  answerWithinMs?: number;
  log: FastifyBaseLogger;
}

const defaultAnswerWithinMs = 250;
const retryAfterMs = 1000;
const connectWithinMs = 2000;

/** One round trip counts the hit and starts the window; a key without an end, however it came to be, gets one. */
const countHit = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return { count, left }`;

/** Windows shared by all instances through Redis. The client is loaded only where it is used. */
export async function openRedisRateLimiter(options: RedisOptions): Promise<OpenRateLimiter> {
  const { windowMs, fallback, log, answerWithinMs = defaultAnswerWithinMs } = options;
  const { createClient, defineScript } = await import("@redis/client");
  const hit = defineScript({
    SCRIPT: countHit,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, bucket: string) {
      parser.pushKey(`upstow:rate:${bucket}`);
      parser.push(String(windowMs));
    },
    transformReply: ([count, msLeft]: [number, number]) => ({ count, msLeft }),
  });
  const client = createClient({
    url: options.url,
    scripts: { hit },
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectWithinMs,
      reconnectStrategy: (retries) => Math.min(retryAfterMs, 50 * 2 ** retries),
    },
  });
  // Every failed attempt to connect is such an event; what matters is said once, when a hit meets it.
  let refusal: unknown = null;
  client.on("error", (error) => {
    refusal = error;
  });
  client.on("ready", () => {
    refusal = null;
  });
  let isLost = false;
  let retryAt = 0;

  function lose(error: unknown): void {
    retryAt = performance.now() + retryAfterMs;
    if (!isLost) log.warn({ err: refusal ?? error }, "Redis is away; rate limits are counted without it");
    isLost = true;
  }

  async function countInRedis(bucket: string, limit: number): Promise<RateLimitResult> {
    const { count, msLeft } = await within(answerWithinMs, client.hit(bucket));
    if (isLost) log.info("Redis is back and counts rate limits again");
    isLost = false;
    retryAt = 0;
    return rateLimitResult(count, limit, msLeft);
  }

  const connecting = client.connect();
  connecting.catch(() => {});
  await within(connectWithinMs, connecting).catch(lose);
  return {
    async hit(bucket, limit) {
      if (performance.now() < retryAt) return fallback.hit(bucket, limit);
      // While it is lost, one hit at a time finds out whether it is back.
      if (isLost) retryAt = performance.now() + retryAfterMs;
      try {
        return await countInRedis(bucket, limit);
      } catch (error) {
        lose(error);
        return fallback.hit(bucket, limit);
      }
    },
    async close() {
      client.destroy();
    },
  };
}

const ticks = 5;

/** Time is counted in steps, so that a process that stood still itself does not take Redis for lost. */
async function within<T>(timeMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let left = ticks;
  const timer = setInterval(() => {
    if (--left === 0) late.reject(new Error(`no answer within ${timeMs} ms`));
  }, timeMs / ticks);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
