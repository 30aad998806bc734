import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { GB, MB, SANDBOX_OPEN_UPLOADS_MAX, TIERS, type TierName } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { reapAbandonedUploads } from "../src/files/uploads/reaper.ts";
import { expectError } from "./support/expect-error.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

interface Used {
  projectId: string;
  environment: "live" | "test";
  period: string;
  storedBytes: number;
  uploads: number;
  openUploads: number;
}

const setStored = statement((q, p: Used) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: p.storedBytes })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);
const setPeriod = statement((q, p: Used) =>
  q.insertInto("usage_period").values({
    project_id: p.projectId,
    environment: p.environment,
    period: p.period,
    uploads: p.uploads,
    reserved_uploads: p.openUploads,
    bandwidth_bytes: 0,
    transform_units: 0,
    stored_bytes: p.storedBytes,
  }),
);

onBothDatabases("quotas", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function createClients(tier: TierName, used: Partial<Used> = {}) {
    const tenant = await app.createTenant(tier);
    const period = new Date(app.clock.now()).toISOString().slice(0, 7);
    const row = {
      projectId: tenant.projectId,
      environment: "live",
      period,
      storedBytes: 0,
      uploads: 0,
      openUploads: 0,
    } as const;
    if (Object.keys(used).length > 0) {
      await app.app.deps.db.run(setStored, { ...row, ...used });
      await app.app.deps.db.run(setPeriod, { ...row, ...used });
    }
    return { tenant, live: createUploadClient(app, tenant.live), test: createUploadClient(app, tenant.test) };
  }

  async function countAccepted(client: UploadClient, fileSize: number, count = 200): Promise<number> {
    const answers = await Promise.all(
      Array.from({ length: count }, () => client.requestAnswer({ fileSize })),
    );
    for (const answer of answers) if (answer.status !== 200) expectError(answer, 403, "TIER_LIMIT_EXCEEDED");
    return answers.filter((answer) => answer.status === 200).length;
  }

  it("200 requests at once never go over the free tier's storage", async () => {
    const storedBytes = 5 * GB - (10 * 4 * MB + 3 * MB);
    const { live } = await createClients("free", { storedBytes });
    assert.equal(await countAccepted(live, 4 * MB), 10);
    assert.equal((await live.requestAnswer({ fileSize: 3 * MB })).status, 200);
    expectError(await live.requestAnswer({ fileSize: 1 }), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("200 requests at once never go over the free tier's uploads", async () => {
    const { live } = await createClients("free", { uploads: 993 });
    assert.equal(await countAccepted(live, 1), 7);
  });

  it("the first uploads of a project, all at once, are all accepted", async () => {
    // A later test reaps what is left of them, and the S3 server of the tests takes its time.
    for (let round = 0; round < (onDisk ? 5 : 1); round++) {
      const { tenant, live } = await createClients("pro");
      assert.equal(await countAccepted(live, 1, 40), 40);
      await assertCountersMatch(app, tenant.projectId, { live: 0 });
    }
  });

  it("every way out gives back what was reserved, once", async () => {
    const { tenant, live } = await createClients("free", { uploads: 998, storedBytes: 0 });
    const [a, b] = [await live.request(), await live.request()];
    expectError(await live.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    await Promise.all(Array.from({ length: 10 }, () => live.remove(a.key)));
    const c = await live.request();
    expectError(await live.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    app.clock.advance(21 * 60_000);
    await reapAbandonedUploads(app.app.deps);
    await live.removeAll([b.key, c.key]);
    await assertCountersMatch(app, tenant.projectId, { live: 998 });
    await live.upload();
    assert.equal((await live.requestAnswer()).status, 200);
    expectError(await live.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("a paid tier goes over its storage and uploads in the single flow, not in the multipart one", async () => {
    for (const tier of ["pro", "team"] as const) {
      const { storageBytes, uploadsPerMonth } = TIERS[tier];
      assert.ok(storageBytes !== null && uploadsPerMonth !== null);
      const full = await createClients(tier, { storedBytes: storageBytes });
      assert.equal((await full.live.requestAnswer()).status, 200);
      expectError(await full.live.initAnswer(), 403, "TIER_LIMIT_EXCEEDED");
      const busy = await createClients(tier, { uploads: uploadsPerMonth });
      assert.equal((await busy.live.requestAnswer()).status, 200);
      expectError(await busy.live.initAnswer(), 403, "TIER_LIMIT_EXCEEDED");
      const nearly = await createClients(tier, { storedBytes: storageBytes - 11 * MB });
      assert.equal((await nearly.live.initAnswer({ fileSize: 11 * MB })).status, 200);
      expectError(await nearly.live.initAnswer({ fileSize: 11 * MB }), 403, "TIER_LIMIT_EXCEEDED");
    }
    const { live } = await createClients("enterprise", { storedBytes: 1e15, uploads: 1e9 });
    assert.equal((await live.initAnswer()).status, 200);
  });

  it("a refusal advises only what helps", async () => {
    const higherTier = "ask the operator for a higher tier ('upstow account set-tier')";
    const full = await createClients("free", { storedBytes: 5 * GB });
    const busy = await createClients("free", { uploads: 1000 });
    const sandbox = await createClients("free", { environment: "test", storedBytes: GB });
    const adviceOf = async (client: typeof full.live) =>
      expectError(await client.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED").suggestion;
    assert.equal(
      await adviceOf(full.live),
      `Delete files you no longer need, also from the trash, or ${higherTier}.`,
    );
    assert.equal(await adviceOf(busy.live), `Wait for the next month, or ${higherTier}.`);
    assert.equal(await adviceOf(sandbox.test), "Delete test files you no longer need, also from the trash.");
  });

  it("a test key meets no monthly quota, only the sandbox's 1 GB", async () => {
    const { tenant, live, test } = await createClients("pro", { environment: "test", uploads: 1e6 });
    assert.equal(await countAccepted(test, 100 * MB, 20), 10);
    assert.equal((await test.requestAnswer({ fileSize: 24 * MB })).status, 200);
    expectError(await test.requestAnswer({ fileSize: 1 }), 403, "TIER_LIMIT_EXCEEDED");
    expectError(await test.initAnswer({ fileSize: 11 * MB }), 403, "TIER_LIMIT_EXCEEDED");
    assert.equal((await live.requestAnswer({ fileSize: 400 * MB })).status, 200);
    const usage = await app.call("GET", "usage", { key: tenant.test });
    assert.equal(usage.body.limits.storageBytes, GB);
    assert.equal(usage.body.limits.uploads, null);
  });

  it("the sandbox has at most so many open uploads, whichever way they are requested", async () => {
    const openUploads = SANDBOX_OPEN_UPLOADS_MAX - 7;
    for (const tier of ["free", "enterprise"] as const) {
      const { tenant, test } = await createClients(tier, { environment: "test", openUploads });
      assert.equal(await countAccepted(test, 1, 20), 7);
      const { message } = expectError(await test.requestAnswer(), 403, "TIER_LIMIT_EXCEEDED");
      assert.match(message, /10,000 of 10,000/);
      const body = { url: "https://example.com/a.txt", routeSlug: "default" };
      expectError(
        await app.call("POST", "upload/import", { key: tenant.test, body }),
        403,
        "TIER_LIMIT_EXCEEDED",
      );
      const [open] = (await test.list("?limit=1")).body.files;
      await test.remove(open.key);
      assert.equal(await countAccepted(test, 1, 5), 1);
    }
    const { live } = await createClients("pro", { openUploads });
    assert.equal(await countAccepted(live, 1, 20), 20);
  });

  it("the sandbox holds the tier's largest file twice, and 1 GB at least", async () => {
    const expected = { free: GB, pro: GB, team: 10 * GB, enterprise: 20 * GB };
    for (const [tier, storageBytes] of Object.entries(expected) as [TierName, number][]) {
      const { test } = await createClients(tier, { environment: "test", storedBytes: storageBytes - 9 });
      assert.equal(
        (await app.call("GET", "usage", { key: test.key })).body.limits.storageBytes,
        storageBytes,
      );
      expectError(await test.requestAnswer({ fileSize: 10 }), 403, "TIER_LIMIT_EXCEEDED");
      assert.equal((await test.requestAnswer({ fileSize: 9 })).status, 200);
    }
    const { test } = await createClients("team");
    for (let i = 0; i < 2; i++) assert.equal((await test.initAnswer({ fileSize: 5 * GB })).status, 200);
    expectError(await test.requestAnswer({ fileSize: 1 }), 403, "TIER_LIMIT_EXCEEDED");
  });

  it("a refusal in the multipart flow leaves nothing open in the store", async () => {
    const { live } = await createClients("pro", { storedBytes: TIERS.pro.storageBytes ?? 0 });
    const countOpen = statement((q, _: object) =>
      q
        .selectFrom("disk_object")
        .select("key")
        .where("state", "=", "open")
        .where("upload_id", "is not", null),
    );
    const before = await app.app.deps.db.all(countOpen, {});
    expectError(await live.initAnswer(), 403, "TIER_LIMIT_EXCEEDED");
    assert.deepEqual(await app.app.deps.db.all(countOpen, {}), before);
  });
});

onBothDatabases("the turn of the month", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    tenant = await app.createTenant("free");
    client = createUploadClient(app, tenant.live);
  });
  after(() => app.close());

  const history = async () =>
    (await app.call("GET", "usage/history?months=4", { key: tenant.live })).body.usage.map(
      (record: { period: string; storageBytes: number; uploads: number; bandwidthBytes: number }) => [
        record.period,
        record.storageBytes,
        record.uploads,
        record.bandwidthBytes,
      ],
    );

  it("keeps the storage total, counts an upload where it was reserved, and bytes where they were served", async () => {
    const size = smallBody.length;
    app.clock.setTime(Date.UTC(2027, 0, 31, 23, 55));
    const kept = await client.upload();
    const late = await client.request();
    const never = await client.request();
    const gone = await client.upload();
    await put(late.uploadUrl, smallBody);
    await (await fetch(kept.url)).text();

    app.clock.setTime(Date.UTC(2027, 1, 1, 0, 1));
    assert.equal((await client.complete(late.fileId)).status, 200);
    assert.deepEqual(await history(), [
      ["2027-02", 3 * size, 0, 0],
      ["2027-01", 2 * size, 3, size],
      ["2026-12", 0, 0, 0],
      ["2026-11", 0, 0, 0],
    ]);
    await client.remove(gone.key);
    await client.upload();
    app.clock.setTime(Date.UTC(2027, 1, 1, 0, 30));
    assert.equal(await reapAbandonedUploads(app.app.deps), 1);
    assert.equal((await client.get(never.key)).body.file.status, "FAILED");
    await assertCountersMatch(app, tenant.projectId, { live: 4 });

    app.clock.setTime(Date.UTC(2027, 3, 1));
    assert.deepEqual(await history(), [
      ["2027-04", 3 * size, 0, 0],
      ["2027-03", 3 * size, 0, 0],
      ["2027-02", 3 * size, 1, 0],
      ["2027-01", 2 * size, 3, size],
    ]);
    assert.equal((await client.usage()).storageBytes, 3 * size);
  });

  it("never lets uploads that were reserved before it go over the new month's quota", async () => {
    app.clock.setTime(Date.UTC(2027, 4, 31, 23, 59));
    const other = await app.createTenant("free");
    const { db } = app.app.deps;
    const used = { projectId: other.projectId, environment: "live" as const, storedBytes: 0, openUploads: 0 };
    await db.run(setStored, { ...used, period: "", uploads: 0, openUploads: 0 });
    await db.run(setPeriod, { ...used, period: "2027-05", uploads: 999 });
    await db.run(setPeriod, { ...used, period: "2027-06", uploads: 999 });
    const uploader = createUploadClient(app, other.live);
    const may = await uploader.request();
    await put(may.uploadUrl, smallBody);
    app.clock.setTime(Date.UTC(2027, 5, 1, 0, 1));
    await uploader.upload();
    assert.equal((await uploader.complete(may.fileId)).status, 200);
    const answer = await app.call("GET", "usage/history?months=2", { key: other.live });
    assert.deepEqual(
      answer.body.usage.map((record: { uploads: number }) => record.uploads),
      [1000, 1000],
    );
  });

  it("finds a new month open after the first byte served, with the storage that there was", async () => {
    app.clock.setTime(Date.UTC(2027, 7, 31, 12));
    const other = await app.createTenant("free");
    const reader = createUploadClient(app, other.live);
    const file = await reader.upload();
    app.clock.setTime(Date.UTC(2027, 8, 1));
    await (await fetch(file.url)).text();
    await reader.usage();
    app.clock.setTime(Date.UTC(2027, 9, 1));
    const answer = await app.call("GET", "usage/history?months=2", { key: other.live });
    assert.deepEqual(answer.body.usage[1], {
      period: "2027-09",
      storageBytes: file.size,
      uploads: 0,
      bandwidthBytes: file.size,
      transformUnits: 0,
    });
  });
});
