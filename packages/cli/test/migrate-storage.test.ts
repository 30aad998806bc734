import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import postgres from "postgres";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { createTestDatabase } from "../../../test/support/postgres.ts";
import { slowTest } from "../../../test/support/quick-run.ts";
import { createSdkClient } from "../../../test/support/s3-server.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { ConfigError } from "../../server/src/config.ts";
import { setState } from "../../server/src/ops/relocation/queries.ts";
import { listMoves } from "../../server/test/support/audit-trail.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { openStoredObjects } from "../../server/test/support/stored-objects.ts";
import { createUploadClient, partPieces, put } from "../../server/test/support/upload-client.ts";
import { type Furnished, furnish, readAllOf, untilWritable } from "./support/furnish.ts";
import { runAtTerminal } from "./support/run-at-terminal.ts";
import {
  envOf,
  examineMove,
  readAll,
  runFailing,
  runJson,
  runUpstow,
  spawnUpstow,
} from "./support/run-upstow.ts";

const appEnv = { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8,::1/128" };

describe("migrate storage", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  let bucket: string;
  let bucketEnv: Record<string, string>;
  let dataDir: string;
  let app: TestApp;
  let env: Record<string, string>;
  const start = (more: Record<string, string> = {}) =>
    startApp({ database: "sqlite", env: { ...appEnv, ...more }, reuse: { dataDir } });

  beforeEach(async () => {
    const created = await s3.createEnv();
    bucketEnv = created;
    bucket = created.UPSTOW_S3_BUCKET;
    dataDir = await mkdtemp(join(tmpdir(), "upstow-migrate-"));
    app = await start();
    env = { ...envOf(app), ...bucketEnv };
  });
  afterEach(async () => {
    await app.close();
    await rm(dataDir, { recursive: true });
  });

  const sdk = async <T>(use: (client: ReturnType<typeof createSdkClient>) => Promise<T>): Promise<T> => {
    const client = createSdkClient(s3.server);
    try {
      return await use(client);
    } finally {
      client.destroy();
    }
  };
  const listBucket = () =>
    sdk(async (client) => {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: "upstow/f/" }),
      );
      return Contents.map(({ Key = "" }) => Key.slice("upstow/f/".length));
    });
  const clientOf = ({ tenant }: Pick<Furnished, "tenant">) => createUploadClient(app, tenant.live);

  it("killed in the middle goes on, while the service is used; then it runs on the bucket", async () => {
    const furnished = await furnish(app);
    const client = clientOf(furnished);
    const isFinalPut = (method = "", url = "") => method === "PUT" && url.includes("/upstow/f/");
    let putCount = 0;
    const { promise: stuck, resolve: onStuck } = Promise.withResolvers<void>();
    s3.proxy.setFaults(({ method, url }) => {
      if (!isFinalPut(method, url)) return null;
      putCount++;
      if (putCount <= 3) return null;
      onStuck();
      return { kind: "hang" };
    });
    const killed = spawnUpstow(["migrate", "storage"], env);
    await Promise.race([stuck, killed.ended.then(({ stderr }) => assert.fail(stderr))]);
    killed.child.kill("SIGKILL");
    assert.match((await killed.ended).stderr, /^Copying files: 0%/m);
    const { promise: stuckAgain, resolve: onStuckAgain } = Promise.withResolvers<void>();
    s3.proxy.setFaults(({ method, url }) => {
      if (!isFinalPut(method, url)) return null;
      onStuckAgain();
      return { kind: "hang" };
    });
    const stopped = spawnUpstow(["migrate", "storage"], env);
    await Promise.race([stuckAgain, stopped.ended.then(({ stderr }) => assert.fail(stderr))]);
    stopped.child.kill("SIGINT");
    const { code, stderr } = await stopped.ended;
    assert.equal(code, 130);
    assert.match(stderr, /^Stopped\. Run the same command again to continue\.$/m);

    const early = await client.upload(randomBytes(100));
    await assert.rejects(
      start(bucketEnv),
      (error) => error instanceof ConfigError && /not all files are in the bucket/.test(error.message),
    );
    s3.proxy.setFaults(({ method, url }) => {
      if (isFinalPut(method, url)) putCount++;
      return null;
    });
    const online = await runJson(["migrate", "storage"], env);
    assert.deepEqual([online.state, online.damaged, online.set], ["copying", [], undefined]);
    // Six files, one of them since, and a variant.
    assert.equal(online.total.objects, 8);
    assert.match(
      await examineMove(envOf(app)),
      /^ok: the files are being copied to s3:.*--finish` completes the move$/,
    );
    assert.match(await examineMove(env), /^failed: UPSTOW_S3_BUCKET is set, but not all files/);
    const idle = await runJson(["migrate", "storage"], env);
    assert.deepEqual(idle.copied, { objects: 0, bytes: 0 });

    const late = await client.upload(randomBytes(40_000));
    assert.equal((await client.remove(early.key)).status, 200);
    const finish = await runUpstow(["migrate", "storage", "--finish"], env);
    assert.equal(finish.code, 0, finish.stderr);
    assert.match(finish.stderr, /is now read-only/);
    assert.match(finish.stdout, new RegExp(`^ {2}UPSTOW_S3_BUCKET=${bucket}$`, "m"));
    assert.doesNotMatch(finish.stdout, new RegExp(s3.server.secretAccessKey));
    assert.match(finish.stdout, /1 were deleted since they were copied/);
    assert.match(finish.stdout, /1 multipart uploads are in progress/);
    assert.equal((await client.requestAnswer()).status, 503);
    assert.match(
      await examineMove(envOf(app)),
      /^warning: The installation has been read-only since \d{4}-.*: the files were copied to s3:.* migrate storage --abort` to accept changes again\.$/,
    );
    const wanted = await readAllOf(app.url, furnished);
    assert.ok(!(await listBucket()).includes(early.key));

    const again = await runJson(["migrate", "storage"], env);
    assert.deepEqual([again.state, again.copied.objects, again.staged], ["copied", 0, 1]);
    await app.close();
    await assert.rejects(start({ ...bucketEnv, UPSTOW_S3_PREFIX: "other" }), /but the files were copied to/);
    app = await start(bucketEnv);
    assert.deepEqual(await listMoves(app), ["operator: copying", "service: done"]);
    assert.deepEqual(await readAllOf(app.url, furnished), wanted);
    assert.equal((await readAll(app.url + new URL(late.url).pathname)).bytes.length, 40_000);
    const verified = await runUpstow(["verify", "--all"], { ...envOf(app), ...bucketEnv });
    assert.equal(verified.code, 0, verified.stdout);
    await openStoredObjects(app).replace(late.key, randomBytes(40_000));
    assert.equal((await readAll(app.url + new URL(late.url).pathname)).status, 500, "the ETag was recorded");
    const afterwards = clientOf(furnished);
    const completed = await afterwards.complete(furnished.arrived.fileId);
    assert.equal(completed.status, 200, JSON.stringify(completed.body));
    const { bytes } = await readAll(app.url + new URL(completed.body.file.url).pathname);
    assert.ok(bytes.equals(furnished.arrivedBytes));
    const inParts = await afterwards.completeParts(furnished.inParts, [{ partNumber: 1, etag: "x" }]);
    assert.equal(inParts.status, 422, "to be sent again");
    assert.equal(await examineMove(env), "");
    const fresh = await afterwards.upload(randomBytes(40));
    assert.ok((await listBucket()).includes(fresh.key));
    assert.equal((await afterwards.remove(late.key)).status, 200);
    assert.ok(!(await listBucket()).includes(late.key));

    await app.close();
    await assert.rejects(start(), /were moved to s3:/);
    app = await start(bucketEnv);
    assert.match(
      (await runFailing(["migrate", "storage"], env)).message,
      /already in .*; the service has switched/,
    );
  });

  slowTest(
    "takes nothing on the disk any more once another process has switched a shared database",
    async () => {
      await using open = new AsyncDisposableStack();
      const database = open.adopt(await createTestDatabase(), (created) => created.drop());
      const sql = open.adopt(postgres(database.url, { max: 1 }), (client) => client.end());
      const place = {
        dataDir: open.adopt(await mkdtemp(join(tmpdir(), "upstow-migrate-")), (dir) =>
          rm(dir, { recursive: true }),
        ),
        databaseUrl: database.url,
      };
      const former = open.adopt(await startApp({ database: "postgres", reuse: place }), (old) => old.close());
      const client = createUploadClient(former, former.owner.live);
      const file = await client.upload(randomBytes(100));
      // As if there were so many objects that a statement over all of them took half a minute.
      await sql.unsafe(`CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF current_setting('statement_timeout')::interval BETWEEN '1 ms' AND '30 s' THEN
        RAISE query_canceled;
      END IF;
      RETURN NULL;
    END $$`);
      await sql`CREATE TRIGGER long BEFORE DELETE ON relocated_object EXECUTE FUNCTION take_long()`;
      const early = await client.request();
      await runJson(["migrate", "storage", "--finish"], { ...envOf(former), ...bucketEnv });
      const startOnBucket = () => startApp({ database: "postgres", env: bucketEnv, reuse: place });

      // A switch that fails has changed nothing.
      await sql`ALTER TABLE relocated_object RENAME TO hidden`;
      await assert.rejects(startOnBucket(), /relocated_object/);
      await sql`ALTER TABLE hidden RENAME TO relocated_object`;
      await wait(1_500);
      assert.equal((await client.requestAnswer()).status, 503);
      assert.equal((await readAll(file.url)).bytes.length, 100);

      const switched = open.adopt(await startOnBucket(), (started) => started.close());
      await createUploadClient(switched, client.key).upload(randomBytes(10));
      assert.equal((await readAll(switched.url + new URL(file.url).pathname)).bytes.length, 100);
      // Longer than the former process takes to look again.
      await wait(1_500);
      assert.equal((await client.requestAnswer()).status, 503);
      assert.equal((await put(early.uploadUrl, Buffer.from("hello bytes"))).status, 503);
      for (const table of ["disk_object", "disk_part", "disk_small_blob"]) {
        await assert.rejects(sql.unsafe(`DELETE FROM ${table}`), { code: "UP001" });
      }
    },
  );

  it("does not copy damaged bytes as good, and goes on without them only when told to", async () => {
    const client = createUploadClient(app, app.owner.live);
    const inParts = await client.uploadPieces(partPieces(300_000));
    const sound = await client.upload(randomBytes(1000));
    const large = await client.upload(randomBytes(100_000));
    const blobs = await readdir(join(dataDir, "objects", "blobs"), { recursive: true, withFileTypes: true });
    for (const entry of blobs.filter((found) => found.isFile())) {
      const path = join(entry.parentPath, entry.name);
      const { size } = await stat(path);
      if (size === 300_000 || size === 100_000) await writeFile(path, randomBytes(size));
    }
    const damaged = [inParts, large].map(({ key }) => ({ key, reason: "wrong-checksum" }));
    const byKey = (list: { key: string }[]) => list.toSorted((a, b) => (a.key < b.key ? -1 : 1));

    const run = await runUpstow(["migrate", "storage", "--finish", "--json"], env);
    assert.equal(run.code, 1);
    const report = JSON.parse(run.stdout);
    assert.deepEqual([report.state, byKey(report.damaged)], ["copying", byKey(damaged)]);
    assert.deepEqual(await listBucket(), [sound.key]);
    assert.equal((await client.requestAnswer()).status, 200, "not read-only for nothing");
    const text = await runUpstow(["migrate", "storage"], env);
    assert.equal(text.code, 1);
    assert.match(text.stdout, /2 files are damaged on the disk and were not copied/);
    assert.ok(text.stdout.includes(`${large.key}: wrong-checksum`));

    const forced = await runJson(["migrate", "storage", "--finish", "--skip-damaged"], env);
    assert.deepEqual([forced.state, forced.damaged.length, forced.total.objects], ["copied", 2, 1]);
    await app.close();
    app = await start(bucketEnv);
    assert.equal((await readAll(app.url + new URL(sound.url).pathname)).status, 200);
    assert.equal((await readAll(app.url + new URL(large.url).pathname)).status, 500);
  });

  slowTest(
    "writes into no bucket that holds something, and removes nothing that is not its own",
    async () => {
      const client = createUploadClient(app, app.owner.live);
      const file = await client.upload(randomBytes(100));
      const put = (Key: string) =>
        sdk((client) => client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: "theirs" })));
      await put("upstow/f/somebody/default/x/theirs.txt");
      const taken = await runFailing(["migrate", "storage"], env);
      assert.deepEqual([taken.exitCode, taken.code], [1, "VALIDATION_ERROR"]);
      assert.match(taken.message, /already contains objects/);

      const elsewhere = { ...env, UPSTOW_S3_PREFIX: "second/" };
      const shown = await runAtTerminal(["migrate", "storage"], elsewhere);
      assert.match(shown, /Copying files {2}░{24} {3}0% {2}0 B of 100 B\r/);
      assert.match(shown, /\r.*Copying files {2}█{24} 100% {2}100 B of 100 B\r.*1 files \(100 B\) are in/);
      await put("second/f/somebody/default/x/theirs.txt");
      const foreign = await runFailing(["migrate", "storage", "--finish"], elsewhere);
      assert.match(foreign.message, /do not belong to this installation, such as somebody/);
      const other = await runFailing(["migrate", "storage"], { ...env, UPSTOW_S3_PREFIX: "third/" });
      assert.match(other.message, /already being moved to s3:.*second\/ at/);

      await runJson(["migrate", "storage", "--abort"], envOf(app));
      assert.equal((await runFailing(["migrate", "storage", "--abort"], env)).code, "NOT_FOUND");
      await sdk((client) =>
        client.send(
          new DeleteObjectCommand({ Bucket: bucket, Key: "second/f/somebody/default/x/theirs.txt" }),
        ),
      );
      await untilWritable(app, app.owner.live);

      // Begun again; what the bucket has lost in between is noticed.
      await sdk((client) =>
        client.send(new DeleteObjectCommand({ Bucket: bucket, Key: `second/f/${file.key}` })),
      );
      const finished = await runJson(["migrate", "storage", "--finish"], elsewhere);
      assert.deepEqual([finished.state, finished.copied.objects], ["copied", 1]);
      // As far as one comes that is killed in the middle.
      await app.app.deps.db.run(setState, { name: "storage", state: "abandoned", now: Date.now() });
      await runJson(["migrate", "storage", "--abort"], elsewhere);
      await untilWritable(app, app.owner.live);
    },
  );

  it("says what is missing or away", async () => {
    assert.equal((await runFailing(["migrate", "storage"], envOf(app))).code, "CONFIGURATION");
    const nowhere = { ...env, UPSTOW_DATA_DIR: join(dataDir, "nothing") };
    assert.equal((await runFailing(["migrate", "storage"], nowhere)).code, "NOT_FOUND");
    const wrong = await runFailing(["migrate", "storage"], { ...env, UPSTOW_S3_SECRET_ACCESS_KEY: "wrong" });
    assert.equal(wrong.code, "SERVICE_UNAVAILABLE");
    assert.match(wrong.message, /SignatureDoesNotMatch/);
    const client = createUploadClient(app, app.owner.live);
    await client.upload(randomBytes(10));
    // Said to be stored, and not there.
    s3.proxy.setFaults(({ method, url = "" }) =>
      method === "PUT" && url.includes("/upstow/f/")
        ? { kind: "answer", status: 200, headers: { etag: '"x"' } }
        : null,
    );
    const changed = await runFailing(["migrate", "storage"], env);
    assert.match(changed.message, /does not return what was written to it/);
    s3.proxy.setFaults(({ method, url = "" }) =>
      method === "PUT" && url.includes("/upstow/f/")
        ? { kind: "answer", status: 403, body: "<Error><Code>QuotaExceeded</Code></Error>" }
        : null,
    );
    const full = await runFailing(["migrate", "storage"], env);
    assert.equal(full.code, "INSUFFICIENT_STORAGE");
    assert.match(full.message, /is full.* Make room\. Run the same command again to continue/);
  });
});
