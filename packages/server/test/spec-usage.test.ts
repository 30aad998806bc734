import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { GB, sandboxStorageBytes, TIER_NAMES, TIERS } from "@upstow/contract";
import type { UsagePeriodRow } from "../src/db/account-schema.ts";
import { statement } from "../src/db/statement.ts";
import { setOwnLimits } from "../src/projects/accounts/queries.ts";
import { periodOf } from "../src/projects/usage/period.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

const insertPeriod = statement((q, p: UsagePeriodRow) =>
  q.insertInto("usage_period").values({
    project_id: p.project_id,
    environment: p.environment,
    period: p.period,
    uploads: p.uploads,
    reserved_uploads: p.reserved_uploads,
    bandwidth_bytes: p.bandwidth_bytes,
    transform_units: p.transform_units,
    stored_bytes: p.stored_bytes,
  }),
);

onBothDatabases("usage", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const record = (tenant: Tenant, period: string, uploads: number, storedBytes: number) =>
    app.app.deps.db.run(insertPeriod, {
      project_id: tenant.projectId,
      environment: "live",
      period,
      uploads,
      reserved_uploads: 0,
      bandwidth_bytes: uploads * 10,
      transform_units: uploads * 2,
      stored_bytes: storedBytes,
    });

  it("shows a new project zeros, its tier and the tier's limits", async () => {
    for (const tier of TIER_NAMES) {
      const tenant = await app.createTenant(tier);
      const { status, body } = await app.call("GET", "usage", { key: tenant.live });
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ["usage", "limits", "tier"]);
      const period = new Date().toISOString().slice(0, 7);
      const zeros = { storageBytes: 0, uploads: 0, bandwidthBytes: 0, transformUnits: 0 };
      assert.deepEqual(body.usage, { period, ...zeros, reservedUploads: 0, reservedBytes: 0 });
      assert.deepEqual(body.limits, {
        storageBytes: TIERS[tier].storageBytes,
        uploads: TIERS[tier].uploadsPerMonth,
        bandwidthBytes: TIERS[tier].bandwidthBytesPerMonth,
        transformUnits: TIERS[tier].transformUnitsPerMonth,
        maxFileSize: TIERS[tier].maxFileSizeBytes,
        projects: TIERS[tier].projects,
        keys: TIERS[tier].keysPerProject,
      });
      assert.equal(body.tier, tier);
    }
  });

  it("gives the sandbox its own counters and its cap", async () => {
    const tenant = await app.createTenant("pro");
    await record(tenant, periodOf(app.clock.now()), 7, 100);
    const { body } = await app.call("GET", "usage", { key: tenant.test });
    assert.equal(body.usage.uploads, 0);
    assert.deepEqual(
      [body.limits.storageBytes, body.limits.uploads, body.limits.bandwidthBytes, body.limits.transformUnits],
      [sandboxStorageBytes("pro"), null, null, null],
    );
    assert.equal(body.limits.storageBytes, GB);
    assert.equal((await app.call("GET", "usage", { key: tenant.live })).body.usage.uploads, 7);
  });

  it("shows the limits that an Enterprise account was given, and no other account's", async () => {
    for (const [tier, expected] of [
      ["enterprise", 7],
      ["pro", TIERS.pro.transformUnitsPerMonth],
    ] as const) {
      const tenant = await app.createTenant(tier);
      const limits = { rateUpload: null, rateTransform: null, rateOther: null, transformUnits: 7 };
      await app.app.deps.db.run(setOwnLimits, { id: tenant.accountId, ...limits, now: Date.now() });
      const { body } = await app.call("GET", "usage", { key: tenant.live });
      assert.equal(body.limits.transformUnits, expected);
    }
  });

  it("tells the history newest first, a quiet month keeping the storage of the one before", async () => {
    const tenant = await app.createTenant("pro");
    app.clock.setTime(Date.UTC(2031, 1, 28, 23, 59, 59, 999));
    await record(tenant, "2030-12", 3, 300);
    await record(tenant, "2031-02", 5, 0);
    const history = async (query: string) =>
      (await app.call("GET", `usage/history${query}`, { key: tenant.live })).body.usage;
    const month = (period: string, uploads: number, storageBytes: number) => ({
      period,
      storageBytes,
      uploads,
      bandwidthBytes: uploads * 10,
      transformUnits: uploads * 2,
    });
    assert.deepEqual(await history("?months=4"), [
      month("2031-02", 5, 0),
      month("2031-01", 0, 300),
      month("2030-12", 3, 300),
      month("2030-11", 0, 0),
    ]);
    assert.equal((await history("")).length, 12);
    assert.equal((await history("?months=120")).length, 120);
    app.clock.advance(1);
    assert.equal((await history("?months=1"))[0].period, "2031-03");
  });

  it("refuses months outside 1 to 120", async () => {
    for (const months of ["0", "121", "-1", "1.5", "x", "", "1&months=2"]) {
      expectInvalid(
        await app.call("GET", `usage/history?months=${months}`, { key: app.owner.live }),
        "months",
      );
    }
  });
});
