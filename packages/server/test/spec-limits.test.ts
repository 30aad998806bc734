import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { GB, type TierName } from "@upstow/contract";
import { periodOf } from "../src/projects/usage/period.ts";
import { countBandwidth } from "../src/projects/usage/queries.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { listOperations } from "./support/list-operations.ts";
import { type Answer, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody } from "./support/upload-client.ts";

const policyOf = (answer: Answer) => answer.headers.get("ratelimit-policy");
const remainingOf = (answer: Answer) =>
  Number(/;r=(\d+);/.exec(answer.headers.get("ratelimit") ?? "")?.[1] ?? Number.NaN);

async function countAllowed(app: TestApp, times: number, method: string, path: string, key: string) {
  const body = method === "POST" ? {} : undefined;
  const answers = await Promise.all(
    Array.from({ length: times }, () => app.call(method, path, { key, body })),
  );
  for (const answer of answers) if (answer.status === 429) expectError(answer, 429, "RATE_LIMITED");
  return answers.filter(({ status }) => status !== 429).length;
}

onAnyDatabase("limits as the contract states them", (database) => {
  it("lets 30 calls to /upload/, 120 to /transforms/image and 10 to everything else through", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const { live, test } = await app.createTenant("pro");
    for (const key of [live, test]) {
      assert.equal(await countAllowed(app, 40, "POST", "upload/multipart/abort", key), 30);
      assert.equal(await countAllowed(app, 130, "POST", "transforms/image", key), 120);
      assert.equal(await countAllowed(app, 20, "GET", "files", key), 10);
      expectError(await app.call("GET", "usage", { key }), 429, "RATE_LIMITED");
    }
  });

  it("counts a bulk deletion of 100 keys as one call", async (t) => {
    const app = await startApp({ database, keepRateLimits: true });
    t.after(() => app.close());
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const keys = Array.from({ length: 100 }, (_, i) => `none/${i}`);
    for (const left of [9, 8]) assert.equal(remainingOf(await client.removeAll(keys)), left);
  });

  it("holds the number of projects of each tier", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    const tiers: [TierName, number][] = [
      ["free", 2],
      ["pro", 10],
      ["team", 50],
    ];
    for (const [tier, most] of tiers) {
      const { live } = await app.createTenant(tier);
      const create = () => app.call("POST", "projects", { key: live, body: { name: "one more" } });
      for (let made = 1; made < most; made++) assert.equal((await create()).status, 201, `${tier} ${made}`);
      expectError(await create(), 403, "TIER_LIMIT_EXCEEDED");
    }
    const { live } = await app.createTenant("enterprise");
    for (let made = 1; made <= 60; made++) {
      const created = await app.call("POST", "projects", { key: live, body: { name: "unlimited" } });
      assert.equal(created.status, 201);
    }
  });
});

describe("limits by tier and address", () => {
  it("shows each tier's quotas", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    const units = [0, 5_000, 25_000, 100_000];
    const storage = [5 * GB, 100 * GB, 1024 * GB, null];
    const uploads = [1_000, 50_000, 500_000, null];
    const bandwidth = [2 * GB, 200 * GB, 2 * 1024 * GB, null];
    const keys = [2, 10, 50, null];
    for (const [i, tier] of (["free", "pro", "team", "enterprise"] as const).entries()) {
      const { live } = await app.createTenant(tier);
      const { limits } = (await app.call("GET", "usage", { key: live })).body;
      assert.deepEqual(
        [limits.storageBytes, limits.uploads, limits.bandwidthBytes, limits.transformUnits, limits.keys],
        [storage[i], uploads[i], bandwidth[i], units[i], keys[i]],
        tier,
      );
    }
  });

  it("never blocks a read for bandwidth, whatever was served", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    const { live, projectId } = await app.createTenant("free");
    const client = createUploadClient(app, live);
    const file = await client.upload();
    const { db } = app.app.deps;
    const period = periodOf(app.clock.now());
    await db.run(countBandwidth, { projectId, environment: "live", period, bandwidthBytes: 3 * GB });
    assert.equal((await fetch(file.url)).status, 200);
    assert.ok((await client.usage()).bandwidthBytes >= 3 * GB);
    assert.equal((await client.requestAnswer()).status, 200);
  });

  it("makes the first account Enterprise and owner of the installation", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    assert.equal((await app.call("GET", "usage", { key: app.owner.live })).body.tier, "enterprise");
    const listed = (await app.call("GET", "projects", { key: app.owner.live })).body.projects;
    assert.deepEqual(
      listed.map((project: { name: string; userId: string }) => [project.name, project.userId]),
      [["default", app.owner.accountId]],
    );
    const owner = await signInAs(app, app.owner.accountId);
    assert.equal((await owner("GET", "/admin/accounts")).status, 200);
    const { accountId } = await app.createTenant("enterprise");
    assert.notEqual((await (await signInAs(app, accountId))("GET", "/admin/accounts")).status, 200);
  });

  onlyOnDisk("a bucket counts for itself")(
    "lets an address fail 300 PUTs per minute, and limits neither good ones nor reads",
    async () => {
      const app = await startApp({ keepRateLimits: true });
      try {
        const client = createUploadClient(app, (await app.createTenant("pro")).live);
        const { uploadUrl, fileId } = await client.request();
        const answers = await Promise.all(Array.from({ length: 320 }, () => put(`${uploadUrl}x`, smallBody)));
        assert.equal(answers.filter(({ status }) => status === 403).length, 300);
        assert.equal(answers.filter(({ status }) => status === 429).length, 20);
        assert.equal((await put(uploadUrl, smallBody)).status, 200);
        const { url } = (await client.complete(fileId)).body.file;
        for (let i = 0; i < 400; i++) assert.equal((await fetch(url)).status, 200);
      } finally {
        await app.close();
      }
    },
  );
});

describe("the rate limit window", () => {
  it("is fixed: it ends 60 seconds after its first call, whatever came later", async (t) => {
    // PostgreSQL goes by its own clock.
    const app = await startApp({ database: "sqlite", keepRateLimits: true });
    t.after(() => app.close());
    const { live } = await app.createTenant("free");
    const start = app.clock.now();
    app.clock.setTime(start);
    const call = () => app.call("GET", "usage", { key: live });
    assert.equal(policyOf(await call()), '"other";q=10;w=60');
    app.clock.setTime(start + 59_000);
    for (let i = 0; i < 9; i++) assert.equal((await call()).status, 200);
    const refused = await call();
    assert.match(expectError(refused, 429, "RATE_LIMITED").message, /\b1 second/);
    assert.equal(refused.headers.get("retry-after"), "1");
    app.clock.setTime(start + 60_000);
    assert.equal(remainingOf(await call()), 9);
  });

  it("of every endpoint is the one that its path belongs to", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    const { live } = await app.createTenant("pro");
    const operations = (await listOperations(app)).filter(
      ({ needsKey, path }) => needsKey && !path.endsWith("/events/stream"),
    );
    assert.ok(operations.length > 35);
    for (const { name, path, call } of operations) {
      const answer = await call(live);
      assert.equal(policyOf(answer)?.split(";w")[0], expectedPolicy(path), name);
    }
  });
});

function expectedPolicy(path: string): string {
  if (path.startsWith("/api/v1/upload/")) return '"upload";q=30';
  return path === "/api/v1/transforms/image" ? '"transform";q=120' : '"other";q=10';
}
