import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Signer } from "@fastify/cookie";
import { ADDRESS_LIMITS, DASHBOARD_RATE_LIMIT, RATE_LIMITS } from "@upstow/contract";
import { sql } from "#kysely";
import { statement } from "../src/db/statement.ts";
import { setOwnLimits } from "../src/projects/accounts/queries.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { spendAddress } from "./support/spend-address.ts";
import { type Answer, onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

const hourMs = 3_600_000;
const postponeWindows = statement((q, p: { ms: number }) =>
  q.updateTable("rate_window").set({ started_at: sql`started_at + cast(${p.ms} as bigint)` }),
);

const left = (answer: Answer) => {
  const [, bucket, remaining, seconds] =
    /^"(\w+)";r=(\d+);t=(\d+)$/.exec(answer.headers.get("ratelimit") ?? "") ?? [];
  return { bucket, remaining: Number(remaining), seconds: Number(seconds) };
};

function expectLimited(answer: Answer): void {
  const error = expectError(answer, 429, "RATE_LIMITED");
  const seconds = answer.headers.get("retry-after") ?? "";
  assert.match(seconds, /^[1-9]\d*$/);
  assert.ok(error.message.includes(`${seconds} seconds`), error.message);
}

/** Calls until refused; returns how many were let through. */
async function exhaust(app: TestApp, path: string, key: string, options: object = {}): Promise<number> {
  for (let allowed = 0; ; allowed++) {
    const answer = await app.call("GET", path, { key, ...options });
    if (answer.status === 429) return allowed;
    if (allowed > 500) throw new Error("no limit in sight");
  }
}

onBothDatabases("rate limits", (database) => {
  it("count each key's three buckets apart and tell on every answer what is left", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const first = await app.createTenant("free");
    for (let used = 1; used <= RATE_LIMITS.other; used++) {
      const path = used % 2 === 0 ? "usage" : "projects/none";
      const answer = await app.call("GET", path, { key: first.live });
      assert.equal(answer.headers.get("ratelimit-policy"), '"other";q=10;w=60');
      const { bucket, remaining, seconds } = left(answer);
      assert.deepEqual([bucket, remaining], ["other", RATE_LIMITS.other - used]);
      assert.ok(seconds >= 1 && seconds <= 60);
    }
    const refused = await app.call("GET", "usage", { key: first.live });
    expectLimited(refused);
    assert.deepEqual(left(refused).remaining, 0);
    const upload = await app.call("POST", "upload/complete", { key: first.live, body: { fileId: "none" } });
    expectError(upload, 404, "NOT_FOUND");
    assert.equal(upload.headers.get("ratelimit-policy"), '"upload";q=30;w=60');
    assert.equal(left(upload).remaining, 29);
    assert.equal(
      (await app.call("GET", "usage", { key: first.test })).status,
      200,
      "another key is another bucket",
    );
  });

  it("let 30 uploads a minute through, exactly, from 60 at once", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        app.call("POST", "upload/complete", { key: tenant.live, body: { fileId: "none" } }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 404).length, RATE_LIMITS.upload);
    for (const answer of answers) if (answer.status !== 404) expectLimited(answer);
  });

  it("start a window with its first request and forget it when it ends", async (t) => {
    const windowMs = 3000;
    const app = await startApp({ database, rateWindowMs: windowMs });
    t.after(() => app.close());
    const moveOn = async (ms: number) =>
      database === "sqlite" ? app.clock.advance(ms) : void (await wait(ms));
    if (database === "sqlite") app.clock.setTime(Date.now());
    const tenant = await app.createTenant("free");
    assert.equal(await exhaust(app, "usage", tenant.live), RATE_LIMITS.other);
    await moveOn(windowMs + 5);
    assert.equal(left(await app.call("GET", "usage", { key: tenant.live })).remaining, RATE_LIMITS.other - 1);
  });

  it("begin anew where the clock was set back, instead of lasting until it is as late again", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const tenant = await app.createTenant("free");
    await app.call("GET", "usage", { key: tenant.live });
    if (database === "sqlite") app.clock.advance(-hourMs);
    else await app.app.deps.db.run(postponeWindows, { ms: hourMs });
    const { remaining, seconds } = left(await app.call("GET", "usage", { key: tenant.live }));
    assert.equal(remaining, RATE_LIMITS.other - 1);
    assert.ok(seconds <= 60, `${seconds} seconds`);
  });

  it("give Enterprise accounts the limits they were given, and nobody else", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const limits = { rateUpload: 2, rateTransform: null, rateOther: 14, transformUnits: null };
    for (const [tier, expected] of [
      ["enterprise", 14],
      ["team", RATE_LIMITS.other],
    ] as const) {
      const tenant = await app.createTenant(tier);
      await app.app.deps.db.run(setOwnLimits, { id: tenant.accountId, ...limits, now: Date.now() });
      assert.equal(await exhaust(app, "usage", tenant.live), expected);
    }
  });

  it("count callers without a valid key by address", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    assert.equal(ADDRESS_LIMITS.unauthenticated, 3000);
    const limit = 100;
    await spendAddress(app, "127.0.0.1", limit);
    const answers = await Promise.all(
      Array.from({ length: limit + 20 }, (_, i) =>
        app.call("GET", "projects", { key: i % 2 ? "x" : "svc_live_x" }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 401).length, limit);
    for (const answer of answers) if (answer.status !== 401) expectLimited(answer);
    assert.equal(answers[0]?.headers.get("ratelimit"), null, "what is left is told to keys only");
    assert.equal(
      (await app.call("GET", "projects", { key: app.owner.live })).status,
      200,
      "a valid key is not held up",
    );
    expectLimited(await app.call("GET", "usage", {}));
  });
});

describe("rate limits by address behind a proxy", () => {
  it("follow the address that the trusted proxy reports, and ignore what its client made up", async (t) => {
    const env = { UPSTOW_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" };
    const app = await startApp({ keepRateLimits: true, env });
    t.after(() => app.close());
    const from = (forwardedFor: string) => ({
      "x-forwarded-for": forwardedFor,
      "x-forwarded-proto": "https",
    });
    const call = (forwardedFor: string) => app.call("GET", "projects", { headers: from(forwardedFor) });
    await spendAddress(app, "203.0.113.5", 100);
    for (let i = 0; i < 100; i++) {
      // The left end is the client's own invention; the port is the connection's.
      assert.equal((await call(`192.0.2.${i}, 203.0.113.5:${i + 1000}, 10.1.1.1`)).status, 401);
    }
    expectLimited(await call("198.51.100.1, 203.0.113.5"));
    assert.equal((await call("203.0.113.5, 203.0.113.6")).status, 401);
    assert.equal((await call("[2001:db8::1]:443")).status, 401);
  });
});

describe("rate limits of two instances", () => {
  it("are counted together through PostgreSQL, exactly", async (t) => {
    const { apps, close } = await startPair({ keepRateLimits: true });
    t.after(close);
    const tenant = await apps[0].createTenant("free");
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        apps[i % 2 === 0 ? 0 : 1].call("GET", "usage", { key: tenant.live }),
      ),
    );
    assert.equal(answers.filter((answer) => answer.status === 200).length, RATE_LIMITS.other);
    const remaining = answers
      .filter((answer) => answer.status === 200)
      .map((answer) => left(answer).remaining);
    assert.deepEqual(
      remaining.sort((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });
});

describe("rate limits of the dashboard", () => {
  it("count uploads by themselves: a folder of many files shuts nobody out of the pages", async (t) => {
    const app = await startApp({ database: "sqlite", keepRateLimits: true });
    t.after(() => app.close());
    const { accountId, projectId } = await app.createTenant("pro");
    const call = await signInAs(app, accountId);
    const complete = () => call("POST", `/in/${projectId}/live/upload/complete`, { fileId: "none" });
    const answers: Answer[] = [];
    while (!answers.some(({ status }) => status === 429) && answers.length < 1_000)
      answers.push(...(await Promise.all(Array.from({ length: 25 }, complete))));
    expectLimited(await complete());
    assert.equal((await call("GET", "/projects")).status, 200);
    assert.equal((await call("GET", `/in/${projectId}/live/search`)).status, 200);
  });

  it("count the sessions of an account together", async (t) => {
    const app = await startApp({ database: "sqlite", keepRateLimits: true });
    t.after(() => app.close());
    const { accountId } = await app.createTenant("free");
    const first = await signInAs(app, accountId);
    for (let sent = 0; sent < DASHBOARD_RATE_LIMIT; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => first("GET", "/session")));
    expectLimited(await first("GET", "/session"));
    const second = await signInAs(app, accountId);
    expectLimited(await second("GET", "/session"));
  });

  it("refuse a session again before its cookie is verified or its row read", async (t) => {
    const app = await startApp({ database: "sqlite", keepRateLimits: true });
    t.after(() => app.close());
    const { accountId } = await app.createTenant("free");
    const call = await signInAs(app, accountId);
    for (let sent = 0; sent < DASHBOARD_RATE_LIMIT; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => call("GET", "/session")));
    expectLimited(await call("GET", "/session"));

    const verified = t.mock.method(Signer.prototype, "unsign");
    const read = t.mock.method(app.app.deps.db, "get");
    const counts = () => [verified.mock.callCount(), read.mock.callCount()];
    expectLimited(await call("POST", "/projects", { name: "x" }));
    assert.deepEqual(counts(), [0, 0]);
    const other = await signInAs(app, app.owner.accountId);
    assert.equal((await other("GET", "/session")).status, 200);
    assert.ok(counts().every((count) => count > 0));
  });
});
