import type { FastifyBaseLogger } from "fastify";
import { callTo } from "../../kernel/calls.ts";
import { type RateLimiter, type RateWindow, rateLimitResult } from "../../kernel/rate-limiter.ts";

export interface OpenRateLimiter extends RateLimiter {
  /** Throws if Redis does not respond; null if none is used. */
  check: (() => Promise<void>) | null;
  close(): Promise<void>;
}

export interface RedisOptions {
  url: string;
  windowMs: number;
  /** Counts while Redis is unavailable, so that an outage does not lift the limits. */
  fallback: RateLimiter;
  /** A healthy Redis responds within a millisecond; one that takes this long is treated as lost. */
  answerWithinMs?: number;
  log: FastifyBaseLogger;
}

const defaultAnswerWithinMs = 250;
const retryAfterMs = 1000;
const connectWithinMs = 2000;

/** Counts a hit and starts the window; a key without an expiry gets one. */
const countOne = `
local function count_one(key)
  local count = redis.call('INCR', key)
  local left = redis.call('PTTL', key)
  if left < 0 then
    redis.call('PEXPIRE', key, ARGV[1])
    left = tonumber(ARGV[1])
  end
  return count, left
end
local count, left = count_one(KEYS[1])`;
const countHit = `${countOne}
return { count, left }`;
/** Counts in the shared window only what fits into the first. Still one round trip. */
const countBoth = `${countOne}
if count > tonumber(ARGV[2]) then return { count, left } end
local shared_count, shared_left = count_one(KEYS[2])
return { count, left, shared_count, shared_left }`;

const keyOf = (name: string) => `upstow:rate:${name}`;

/** Windows shared by all instances through Redis. The client is loaded only where it is used. */
export async function openRedisRateLimiter(options: RedisOptions): Promise<OpenRateLimiter> {
  const { windowMs, fallback, log, answerWithinMs = defaultAnswerWithinMs } = options;
  const { createClient, defineScript } = await import("@redis/client");
  const hit = defineScript({
    SCRIPT: countHit,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser, name: string) {
      parser.pushKey(keyOf(name));
      parser.push(String(windowMs));
    },
    transformReply: ([count, msLeft]: [number, number]) => ({ count, msLeft }),
  });
  const hitBoth = defineScript({
    SCRIPT: countBoth,
    NUMBER_OF_KEYS: 2,
    parseCommand(parser, own: RateWindow, shared: RateWindow) {
      parser.pushKeys([keyOf(own.name), keyOf(shared.name)]);
      parser.push(String(windowMs), String(own.limit));
    },
    transformReply: (numbers: number[]) => numbers,
  });
  const client = createClient({
    url: options.url,
    scripts: { hit, hitBoth },
    disableOfflineQueue: true,
    socket: {
      connectTimeout: connectWithinMs,
      reconnectStrategy: (retries) => Math.min(retryAfterMs, 50 * 2 ** retries),
    },
  });
  // Every failed connection attempt emits this event; it is logged once, when a hit fails.
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
    if (!isLost)
      log.warn({ err: refusal ?? error }, "Redis is unavailable; rate limits are counted without it");
    isLost = true;
  }

  /** Uses Redis, or the fallback while it is lost. */
  async function ask<T>(count: () => Promise<T>, countWithout: () => Promise<T>): Promise<T> {
    if (performance.now() < retryAt) return countWithout();
    // While it is lost, one hit at a time checks whether it is back.
    if (isLost) retryAt = performance.now() + retryAfterMs;
    try {
      const counted = await callTo("redis", "count", () => within(answerWithinMs, count()));
      if (isLost) log.info("Redis is available again and counts rate limits");
      isLost = false;
      retryAt = 0;
      return counted;
    } catch (error) {
      lose(error);
      return countWithout();
    }
  }

  const connecting = client.connect();
  connecting.catch(() => {});
  await within(connectWithinMs, connecting).catch(lose);
  return {
    hit: (name, limit) =>
      ask(
        async () => {
          const { count, msLeft } = await client.hit(name);
          return rateLimitResult(count, limit, msLeft);
        },
        () => fallback.hit(name, limit),
      ),
    hitBoth: (own, shared) =>
      ask(
        async () => {
          const [count = 0, msLeft = 0, sharedCount, sharedMsLeft = 0] = await client.hitBoth(own, shared);
          return {
            own: rateLimitResult(count, own.limit, msLeft),
            shared:
              sharedCount === undefined ? null : rateLimitResult(sharedCount, shared.limit, sharedMsLeft),
          };
        },
        () => fallback.hitBoth(own, shared),
      ),
    async check() {
      await within(answerWithinMs, client.ping());
    },
    async close() {
      client.destroy();
    },
  };
}

const ticks = 5;

/** Time is counted in steps, so that a process that was itself paused does not treat Redis as lost. */
async function within<T>(timeMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let left = ticks;
  const timer = setInterval(() => {
    if (--left === 0) late.reject(new Error(`no response within ${timeMs} ms`));
  }, timeMs / ticks);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(timer);
  }
}

const tryWithinMs = 5000;

/** Connects and runs a script like the rate limiter does; throws if that fails. */
export async function tryRedis(url: string): Promise<void> {
  const { createClient } = await import("@redis/client");
  const client = createClient({ url, socket: { connectTimeout: tryWithinMs, reconnectStrategy: false } });
  // Failures are thrown; but an error event without a listener would crash the process.
  client.on("error", () => {});
  const late = AbortSignal.timeout(tryWithinMs);
  const tooLate = new Promise<never>((_, reject) => {
    late.onabort = () => reject(new Error(`no response within ${tryWithinMs} ms`));
  });
  try {
    await Promise.race([client.connect().then(() => client.sendCommand(["EVAL", "return 1", "0"])), tooLate]);
  } finally {
    client.destroy();
  }
}
