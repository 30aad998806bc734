import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { version } from "../src/kernel/version.ts";
import { getReports, keepReport } from "../src/ops/maintenance-reports.ts";
import { scrubDisk, sweepDisk } from "../src/ops/storage-upkeep.ts";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { onBothDatabases, startApp, type TestApp } from "./support/start-app.ts";
import { openTestStore } from "./support/storage/open-disk-store.ts";
import { onDisk } from "./support/test-bucket.ts";
import { uploadFile } from "./support/upload.ts";

onBothDatabases("the owner of an installation", (database) => {
  let app: TestApp;
  let owner: ConsoleCall;
  before(async () => {
    app = await startApp({ database });
    owner = await signInAs(app, app.owner.accountId);
  });
  after(() => app.close());

  const find = async (email: string) => (await owner("GET", `/admin/accounts?email=${email}`)).body.accounts;

  test("sees how it stands", async () => {
    await uploadFile(app, "hello", { key: app.owner.live });
    const report = { checkedBlobs: 3, hasEnded: true };
    await keepReport(app.app.deps.db, "scrub", { startedAt: 1000, endedAt: 2000 }, report);
    const { body } = await owner("GET", "/admin/status");
    assert.deepEqual([body.version, body.database], [version, database]);
    assert.deepEqual([body.accounts, body.projects, body.storedBytes], [1, 1, 5]);
    assert.deepEqual(
      [body.storage.kind, body.storage.problem, body.storage.damagedObjects],
      [onDisk ? "disk" : "s3", null, 0],
    );
    if (onDisk) assert.ok(body.storage.freeBytes > 0 && body.storage.freeBytes <= body.storage.totalBytes);
    assert.deepEqual(body.queues, {
      webhooksWaiting: 0,
      webhooksUnderWay: 0,
      webhookOldestDueSec: 0,
      failingEndpoints: 0,
      deletionsWaiting: 0,
      openUploads: 0,
    });
    const times = { startedAt: "1970-01-01T00:00:01.000Z", endedAt: "1970-01-01T00:00:02.000Z" };
    assert.deepEqual(body.maintenance, [{ name: "scrub", report, ...times }]);
  });

  test("finds accounts by address, page by page, with what they store and no secrets", async () => {
    const tenant = await app.createTenant("pro");
    await app.createTenant("free");
    await uploadFile(app, "hello", { key: tenant.live });
    const [account] = await find(tenant.email.toUpperCase());
    assert.deepEqual(
      [account.id, account.tier, account.projects, account.storedBytes, account.hasPassword],
      [tenant.accountId, "pro", 1, 5, false],
    );
    assert.ok(!JSON.stringify(account).includes("scrypt"));
    assert.deepEqual(await find("%25"), []);
    const first = (await owner("GET", "/admin/accounts?limit=1")).body;
    assert.deepEqual([first.accounts.length, first.hasMore], [1, true]);
    const second = (await owner("GET", `/admin/accounts?limit=1&cursor=${first.nextCursor}`)).body;
    assert.notEqual(second.accounts[0].id, first.accounts[0].id);
  });

  test("makes an account, whose link lets its person in", async () => {
    const made = await owner("POST", "/admin/accounts", { email: "New@Example.com", tier: "team" });
    assert.equal(made.status, 201);
    assert.equal(made.body.email, "new@example.com");
    const token = made.body.link.split("#")[1];
    const seen = await app.call("POST", "/dashboard/api/claim/look", {
      body: { token },
      headers: { origin: app.url },
    });
    assert.equal(seen.body.email, "new@example.com");
    const again = await owner("POST", "/admin/accounts", { email: "new@example.com", tier: "team" });
    assert.equal(again.status, 400);
  });

  test("changes tiers and an Enterprise account's own limits, from the next request on", async () => {
    const tenant = await app.createTenant("free");
    const path = `/admin/accounts/${tenant.accountId}`;
    const limits = { rateOther: 77, transformUnits: null };
    assert.equal((await owner("PATCH", path, { limits })).status, 400, "not on this tier");
    assert.equal((await owner("PATCH", path, { tier: "enterprise", limits })).status, 200);
    const [account] = await find(tenant.email);
    assert.deepEqual([account.tier, account.rateOther, account.transformUnits], ["enterprise", 77, null]);
    const answer = await app.call("GET", "projects", { key: tenant.live });
    assert.match(answer.headers.get("ratelimit-policy") ?? "", /q=77;/);
    assert.equal((await owner("PATCH", path, { tier: "free", limits })).status, 400, "none on that tier");
    assert.equal((await find(tenant.email))[0].tier, "enterprise", "all of a change or nothing");
    for (const wrong of [{ tier: "gold" }, { limits: { rateOther: 0 } }, { limits: { rateOther: "5" } }]) {
      assert.equal((await owner("PATCH", path, wrong)).status, 400, JSON.stringify(wrong));
    }
    assert.equal((await owner("PATCH", `/admin/accounts/${"0".repeat(26)}`, { tier: "pro" })).status, 404);
  });
});

test("maintenance leaves a report: a sweep its last run, a scrub the pass that it is in", async () => {
  await using opened = await openTestStore();
  const { store, db } = opened;
  let time = 1000;
  const deps = { db, now: () => time, log: console as never };
  await store.write("a", Buffer.from("12345"), { contentType: "a/b" });
  await store.write("b", Buffer.from("12345"), { contentType: "a/b" });
  const { signal } = new AbortController();
  const parts = {
    scrub: (options: Parameters<typeof store.scrub>[0]) => store.scrub({ ...options, maxBlobs: 1 }),
  };
  await scrubDisk(parts, deps, signal);
  time = 2000;
  await scrubDisk(parts, deps, signal);
  const open = { checkedBlobs: 2, checkedBytes: 10, damaged: 0, mended: 0, hasEnded: false };
  assert.deepEqual(await getReports(db), [{ name: "scrub", startedAt: 1000, endedAt: 2000, report: open }]);
  await scrubDisk(parts, deps, signal);
  time = 3000;
  await scrubDisk(store, deps, signal);
  await sweepDisk(store, deps);
  const [scrub, sweep] = await getReports(db);
  assert.deepEqual(scrub, {
    name: "scrub",
    startedAt: 3000,
    endedAt: 3000,
    report: { ...open, hasEnded: true },
  });
  assert.deepEqual(sweep?.report, {
    temporaryFiles: 0,
    orphanedObjects: 0,
    forgottenRecords: 0,
    missingObjects: 0,
    hasMore: false,
  });
});
