import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { type RedisHandle, redisMissing, startRedis } from "../../../test/support/redis.ts";
import { createMemoryRateLimiter } from "../src/http/rate-limiter/index.ts";
import { openRedisRateLimiter } from "../src/http/rate-limiter/redis.ts";
import type { RateLimiter } from "../src/kernel/rate-limiter.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

const log = pino({ level: "silent" });

describe("rate limits in Redis", { skip: redisMissing }, () => {
  let redis: RedisHandle;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  const refuse = () => Promise.reject(new Error("the fallback was asked"));
  type Options = {
    url?: string;
    windowMs?: number;
    fallback?: RateLimiter;
    answerWithinMs?: number;
    log?: Logger;
  };
  const open = (options: Options = {}) =>
    openRedisRateLimiter({
      url: redis.url,
      windowMs: 60_000,
      fallback: { hit: refuse, hitBoth: refuse },
      log,
      ...options,
    });

  it("count together and exactly, in windows that start with their first request", async (t) => {
    const options = { windowMs: 2000, answerWithinMs: 30_000 };
    const [one, two] = [await open(options), await open(options)];
    t.after(() => Promise.all([one.close(), two.close()]));
    const hits = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? one : two).hit("exact", 10)),
    );
    assert.equal(hits.filter((hit) => hit.isAllowed).length, 10);
    assert.ok(hits.every((hit) => hit.resetSec >= 1 && hit.resetSec <= 2));
    await wait(2050);
    assert.deepEqual(await one.hit("exact", 10), { isAllowed: true, remaining: 9, resetSec: 2 });
  });

  it("count a window and the one it shares together, and nothing there that the first refuses", async (t) => {
    const [one, two] = [await open({ answerWithinMs: 30_000 }), await open({ answerWithinMs: 30_000 })];
    t.after(() => Promise.all([one.close(), two.close()]));
    const shared = { name: "together", limit: 25 };
    const hits = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        (i % 2 ? one : two).hitBoth({ name: `own-${i % 4}`, limit: 10 }, shared),
      ),
    );
    assert.equal(hits.filter(({ own }) => own.isAllowed).length, 40);
    assert.equal(hits.filter((hit) => hit.shared?.isAllowed).length, 25);
    assert.equal(hits.filter((hit) => hit.shared === null).length, 40);
    assert.equal((await one.hit("together", 100)).remaining, 59);
  });

  it("are shared by two servers, and the three buckets stay apart", async (t) => {
    const { apps, close } = await startPair({ keepRateLimits: true, env: { UPSTOW_REDIS_URL: redis.url } });
    t.after(close);
    // Where the machine is too busy for Redis to answer in time, the database counts; then it is tried again.
    const countLosses = () =>
      apps.map(({ logLines }) => logLines.filter((line) => line.includes("Redis is")).length);
    let key: string;
    for (;;) {
      const before = countLosses();
      key = (await apps[0].createTenant("free")).live;
      const statuses = await flood(apps, key);
      if (before.some((count) => count % 2 === 1) || `${countLosses()}` !== `${before}`) continue;
      assert.equal(statuses.filter((status) => status === 200).length, 10);
      break;
    }
    const upload = await apps[1].call("POST", "upload/complete", { key, body: { fileId: "x" } });
    assert.equal(upload.status, 404);
  });

  it("go on without Redis when it is killed under load: no door opens, no request fails", async (t) => {
    const victim = await startRedis();
    t.after(() => victim.stop());
    const env = { UPSTOW_REDIS_URL: victim.url };
    const app = await startApp({ keepRateLimits: true, env });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const statuses: number[] = [];
    const flood = Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let i = 0; i < 10; i++)
          statuses.push((await app.call("GET", "usage", { key: tenant.live })).status);
      }),
    );
    await victim.stop();
    await flood;
    // At worst the window filled once in Redis and once more in the server's own memory.
    const allowed = statuses.filter((status) => status === 200).length;
    assert.ok(allowed >= 10 && allowed <= 20, `${allowed} were let through`);
    assert.ok(statuses.every((status) => status === 200 || status === 429));
    assert.equal((await app.call("GET", "usage", { key: tenant.live })).status, 429);
    assert.equal(app.logLines.filter((line) => line.includes("Redis is unavailable")).length, 1);
  });

  it("are counted in the database, by all servers together, while Redis is away", async (t) => {
    const env = { UPSTOW_REDIS_URL: `redis://127.0.0.1:${await pickFreePort()}` };
    const { apps, close } = await startPair({ keepRateLimits: true, env });
    t.after(close);
    const tenant = await apps[0].createTenant("free");
    const statuses = await flood(apps, tenant.live);
    assert.equal(statuses.filter((status) => status === 200).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 20);
  });

  it("start without Redis and count in it once it is there", async (t) => {
    const port = await pickFreePort();
    const limiter = await open({
      url: `redis://127.0.0.1:${port}`,
      fallback: createMemoryRateLimiter(60_000, Date.now),
    });
    t.after(() => limiter.close());
    for (let i = 0; i < 10; i++) assert.ok((await limiter.hit("early", 10)).isAllowed);
    assert.equal((await limiter.hit("early", 10)).isAllowed, false);
    const stopForwarding = await forward(port, Number(new URL(redis.url).port));
    t.after(stopForwarding);
    while (!(await limiter.hit("early", 10)).isAllowed) await wait(50);
    assert.ok((await limiter.hit("early", 10)).remaining < 9, "Redis counts on");
  });

  it("say why Redis lets nobody in", async (t) => {
    const lines: string[] = [];
    const limiter = await open({
      url: redis.url.replace("redis://", "redis://nobody:hush@"),
      fallback: createMemoryRateLimiter(60_000, Date.now),
      log: pino({ level: "warn" }, { write: (line: string) => void lines.push(line) }),
    });
    t.after(() => limiter.close());
    assert.ok((await limiter.hit("refused", 10)).isAllowed);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? "", /WRONGPASS(?!.*hush)/);
  });

  it("do not wait for a Redis that hangs, and come back to it", async (t) => {
    const frozen = await startRedis();
    t.after(() => frozen.stop());
    const limiter = await open({ url: frozen.url, fallback: createMemoryRateLimiter(60_000, Date.now) });
    t.after(() => limiter.close());
    assert.equal((await limiter.hit("frozen", 100)).remaining, 99);
    const thaw = frozen.pause();
    t.after(thaw);
    for (let used = 1; used <= 20; used++) {
      assert.equal(
        (await limiter.hit("frozen", 100)).remaining,
        100 - used,
        "the fallback counts from its own start",
      );
    }
    thaw();
    // The fallback has counted to twenty; Redis, which hung, has not.
    while ((await limiter.hit("frozen", 100)).remaining < 90) await wait(50);
  });
});

/** Thirty calls at once where ten a minute are allowed, on both servers in turn. */
function flood(apps: [TestApp, TestApp], key: string): Promise<number[]> {
  const call = async (i: number) => (await apps[i % 2 === 0 ? 0 : 1].call("GET", "usage", { key })).status;
  return Promise.all(Array.from({ length: 30 }, (_, i) => call(i)));
}

async function forward(from: number, to: number): Promise<() => Promise<void>> {
  const server = createServer((client) => {
    const redis = connect(to, "127.0.0.1");
    pipeline(client, redis, client, () => {});
  });
  await once(server.listen(from, "127.0.0.1"), "listening");
  return async () => void server.close();
}
