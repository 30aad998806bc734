import assert from "node:assert/strict";
import { once } from "node:events";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { statement } from "../../server/src/db/statement.ts";
import { runDeletions } from "../../server/src/files/storage-deletions.ts";
import { createId } from "../../server/src/kernel/ids.ts";
import { insertManyFiles } from "../../server/test/support/many-files.ts";
import { assertCountersMatch } from "../../server/test/support/recount.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "../../server/test/support/start-app.ts";
import { openStoredObjects } from "../../server/test/support/stored-objects.ts";
import { createUploadClient, type UploadClient } from "../../server/test/support/upload-client.ts";
import { envOf, runFailing, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

const spoilCounter = statement((q, p: { projectId: string }) =>
  q
    .updateTable("usage_total")
    .set((e) => ({ stored_bytes: e("stored_bytes", "+", 5) }))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const makeOlder = statement((q, p: { key: string }) =>
  q.updateTable("disk_object").set({ received_at: 1 }).where("key", "=", p.key),
);
const bytes = Buffer.alloc(40_000, 7);
const contentType = "application/octet-stream";

onAnyDatabase("verify", (database) => {
  let app: TestApp;
  let env: Record<string, string>;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    env = envOf(app);
    tenant = await app.createTenant("enterprise");
    client = createUploadClient(app, tenant.live);
    for (let i = 0; i < 3; i++) await client.upload(bytes, { contentType });
  });
  after(() => app.close());

  it("ends with 0 where nothing is wrong", async () => {
    const run = await runUpstow(["verify", "--all"], env);
    assert.equal(run.code, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /^Checked 3 files, \d objects? and 4 counters\. No problems found\.$/m);
  });

  it("prints a line for each finding and a summary, repairs what is safe, and leaves damaged files", async () => {
    const { db, store } = app.app.deps;
    const file = await client.upload(bytes, { contentType });
    const path = await store.localFiles?.findPath(file.key);
    await unlink(join(app.dataDir, "objects", path ?? ""));
    const orphan = `${tenant.projectId}/default/${createId(Date.now())}/left.bin`;
    await store.write(orphan, bytes, { contentType });
    await db.run(makeOlder, { key: orphan });
    await db.run(spoilCounter, tenant);

    const readLines = async (args: string[]) => {
      const run = await runUpstow(["verify", "--json", ...args], env);
      assert.equal(run.code, 1, run.stderr);
      return run.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const damaged = {
      kind: "damaged-file",
      fileId: file.id,
      key: file.key,
      store: "disk",
      reason: "missing",
    };
    const counter = {
      kind: "wrong-counter",
      projectId: tenant.projectId,
      environment: "live",
      storedBytes: 5,
      reservedBytes: 0,
      reservedUploads: [],
    };
    const summary = {
      ok: false,
      fix: false,
      acceptedEtags: 0,
      checkedFiles: 4,
      damagedFiles: 1,
      uncheckedFiles: 0,
      checkedObjects: 1,
      orphans: 1,
      foreignObjects: 0,
      checkedCounters: 4,
      wrongCounters: 1,
      sampledPercent: 50,
    };
    const found = [damaged, { kind: "orphaned-object", key: orphan }, counter];
    assert.deepEqual(await readLines(["--sample", "50"]), [...found, summary]);
    const fixed = { ...summary, fix: true, sampledPercent: 0 };
    assert.deepEqual(await readLines(["--fix"]), [...found, fixed]);
    await assertCountersMatch(app, tenant.projectId);
    await runDeletions({ ...app.app.deps, now: () => Date.now() + 120_000 });
    assert.equal(await store.head(orphan), null);
    assert.deepEqual(await readLines([]), [
      damaged,
      { ...summary, checkedObjects: 0, orphans: 0, wrongCounters: 0, sampledPercent: 0 },
    ]);
    const text = await runUpstow(["verify", "--fix"], env);
    assert.match(text.stdout, /^✖ damaged file +\S+: missing$/m);
    assert.match(text.stdout, /Restore their bytes/);
    await client.remove(file.key);
  });

  it("continues after Ctrl-C", async () => {
    const crowd = await app.createTenant("enterprise");
    const count = 3000;
    await insertManyFiles(app, { projectId: crowd.projectId, count });
    const { child, ended } = spawnUpstow(["verify", "--json", "--fix"], env);
    assert.ok(child.stdout);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    const first = await ended;
    assert.equal(first.code, 130, first.stderr);
    const rest = await runUpstow(["verify", "--json", "--resume"], env);
    assert.equal(rest.code, 1, rest.stderr);
    const ids = `${first.stdout}${rest.stdout}`.match(/(?<="damaged-file","fileId":")\w+/g);
    assert.equal(new Set(ids).size, count);
    const summary = JSON.parse(rest.stdout.trim().split("\n").at(-1) ?? "");
    assert.deepEqual([summary.damagedFiles, summary.fix], [count, true]);
    const nothing = await runFailing(["verify", "--resume"], env);
    assert.equal(nothing.code, "NOT_FOUND");
  });

  it("refuses options that make no sense", async () => {
    for (const args of [
      ["--sample", "0"],
      ["--sample", "101"],
      ["--sample", "x"],
      ["--all", "--sample", "5"],
      ["--resume", "--fix"],
    ]) {
      const run = await runUpstow(["verify", ...args], env);
      assert.equal(run.code, 2, args.join(" "));
    }
  });
});

describe("verify on a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  let app: TestApp;
  let env: Record<string, string>;
  before(async () => {
    const bucketEnv = await s3.createEnv();
    app = await startApp({ database: "sqlite", env: bucketEnv });
    env = { ...envOf(app), ...bucketEnv };
  });
  after(() => app.close());

  it("finds what was replaced, and says how to go on when the bucket is away", async () => {
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    await client.upload(bytes, { contentType });
    const file = await client.upload(bytes, { contentType });
    assert.equal((await runUpstow(["verify", "--all"], env)).code, 0);
    await openStoredObjects(app).replace(file.key, Buffer.alloc(bytes.length, 8));
    const run = await runUpstow(["verify"], env);
    assert.equal(run.code, 1);
    assert.match(run.stdout, new RegExp(`^✖ damaged file +${file.key}: wrong-etag$`, "m"));
    const accepted = await runUpstow(["verify", "--accept-etags"], env);
    assert.deepEqual([accepted.code, /Recorded 1 new ETag\./.test(accepted.stdout)], [0, true]);
    assert.equal((await fetch(file.url)).status, 200);
    await openStoredObjects(app).replace(file.key, Buffer.alloc(bytes.length, 9));

    s3.proxy.setFaults(() => ({ kind: "answer", status: 503 }));
    const failed = await runFailing(["verify"], env);
    assert.equal(failed.code, "SERVICE_UNAVAILABLE");
    assert.match(failed.message, /upstow verify --resume/);
    s3.proxy.setFaults(() => null);
    const resumed = await runUpstow(["verify", "--json", "--resume"], env);
    assert.deepEqual(
      [resumed.code, JSON.parse(resumed.stdout.trim().split("\n").at(-1) ?? "").checkedFiles],
      [1, 2],
    );
  });
});
