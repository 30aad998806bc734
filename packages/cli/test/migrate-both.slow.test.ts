import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { createBucketEnv } from "../../../test/support/s3-server.ts";
import { startSwift, swiftMissing } from "../../../test/support/swift.ts";
import type { Check } from "../../server/src/ops/doctor/check.ts";
import { startApp } from "../../server/test/support/start-app.ts";
import { createUploadClient } from "../../server/test/support/upload-client.ts";
import { type Furnished, furnish, readAllOf } from "./support/furnish.ts";
import { envOf, readAll, runFailing, runJson } from "./support/run-upstow.ts";

/**
 * Reads files one after the other, with a pause that leaves the processor to the move, until told to stop; every one of
 * them has to be there.
 */
function keepReading(url: string, { files }: Furnished) {
  let isOver = false;
  const reading = (async () => {
    let count = 0;
    do {
      for (const file of files) {
        const { status, bytes } = await readAll(url + new URL(file.url).pathname);
        assert.deepEqual([status, bytes.length], [200, file.size]);
        count++;
        await wait(100);
      }
    } while (!isOver);
    return count;
  })();
  return {
    async stop(): Promise<number> {
      isOver = true;
      return reading;
    },
  };
}

it("an embedded installation moves to PostgreSQL and a bucket in one break", {
  skip: swiftMissing,
}, async () => {
  await using open = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-migrate-"));
  open.defer(() => rm(dataDir, { recursive: true }));
  const server = open.adopt(await startSwift(), (swift) => swift.stop());
  const database = open.adopt(await createTestDatabase(), (created) => created.drop());
  const bucketEnv = await createBucketEnv(server);
  const appEnv = { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8,::1/128" };

  const old = await startApp({ database: "sqlite", env: appEnv, reuse: { dataDir } });
  let wanted: unknown;
  let furnished: Furnished;
  const once = { "idempotency-key": "asked-before-the-move" };
  let asked: { fileId: string };
  try {
    furnished = await furnish(old);
    const client = createUploadClient(old, furnished.tenant.live);
    asked = (await client.requestAnswer({}, once)).body;
    const env = { ...envOf(old), ...bucketEnv, UPSTOW_DATABASE_URL: database.url };
    const reading = keepReading(old.url, furnished);
    const storage = await runJson(["migrate", "storage", "--finish"], env);
    assert.deepEqual([storage.state, storage.total.objects, storage.staged], ["copied", 7, 1]);
    const { checks } = await runJson(["doctor"], env);
    const { fix } = checks.find((check: Check) => /has no tables yet/.test(check.message));
    assert.match(fix, /^To move the installation .* `upstow migrate database`/);
    await assert.rejects(
      startApp({ database: "postgres", env: bucketEnv, reuse: { dataDir, databaseUrl: database.url } }),
      /UPSTOW_DATABASE_URL points to an empty database .* run `upstow migrate database` first/,
    );
    const moved = await runJson(["migrate", "database"], env);
    assert.equal(moved.isInBucket, true);
    assert.ok(moved.leftOut.some(({ table }: { table: string }) => table === "disk_object"));
    assert.deepEqual(Object.keys(moved.set), [
      "UPSTOW_DATABASE_URL",
      ...Object.keys(bucketEnv).filter((name) => name !== "UPSTOW_S3_SECRET_ACCESS_KEY"),
      "UPSTOW_S3_SECRET_ACCESS_KEY",
    ]);
    assert.ok((await reading.stop()) > 0);
    assert.equal((await client.requestAnswer()).status, 503);
    wanted = await readAllOf(old.url, furnished);
    const { UPSTOW_DATABASE_URL: _, ...without } = env;
    assert.match(
      (await runFailing(["migrate", "storage", "--abort"], without)).message,
      /Set UPSTOW_DATABASE_URL/,
    );
  } finally {
    await old.close();
  }

  const place = { dataDir, databaseUrl: database.url };
  await assert.rejects(startApp({ database: "postgres", reuse: place }), /were moved to s3:/);
  await assert.rejects(
    startApp({ database: "sqlite", env: bucketEnv, reuse: { dataDir } }),
    /UPSTOW_DATABASE_URL must be set/,
  );
  const app = open.adopt(
    await startApp({ database: "postgres", env: { ...appEnv, ...bucketEnv }, reuse: place }),
    (started) => started.close(),
  );
  assert.deepEqual(await readAllOf(app.url, furnished), wanted);
  const client = createUploadClient(app, furnished.tenant.live);
  const repeated = await client.requestAnswer({}, once);
  assert.deepEqual([repeated.status, repeated.body.fileId], [200, asked.fileId]);
  assert.equal((await client.complete(furnished.arrived.fileId)).status, 200);
  const bytes = randomBytes(40_000);
  const fresh = await client.upload(bytes, { routeSlug: "hooked" });
  assert.ok((await readAll(app.url + new URL(fresh.url).pathname)).bytes.equals(bytes));
  assert.equal((await client.remove(furnished.files[0]?.key ?? "")).status, 200);
  const project = await app.call("POST", "projects", {
    key: furnished.tenant.live,
    body: { name: "another" },
  });
  assert.equal(project.status, 201, JSON.stringify(project.body));
});
