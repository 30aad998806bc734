import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import {
  createUploadClient,
  partPieces,
  type UploadedFile,
} from "../../server/test/support/upload-client.ts";
import { envOf, readAll, runFailing, runJson, runUpstow } from "./support/run-upstow.ts";

const pathOf = (file: UploadedFile) => new URL(file.url).pathname;

async function listBlobs(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, "objects", "blobs"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe("backup of the embedded installation", () => {
  let app: TestApp;
  let directory: string;
  let target: string;
  let env: Record<string, string>;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    env = envOf(app);
  });
  after(() => app.close());
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "upstow-backup-"));
    target = join(directory, "backup");
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** As the guide says: copy the backup's contents to an empty data directory, start. */
  async function restore(): Promise<TestApp> {
    const dataDir = join(directory, "restored");
    await cp(target, dataDir, { recursive: true });
    return startApp({ database: "sqlite", reuse: { dataDir } });
  }

  it("holds everything acknowledged before it, taken while the service is written to", async () => {
    const tenant = await app.createTenant("enterprise");
    const client = createUploadClient(app, tenant.live);
    const kept = new Map<UploadedFile, Buffer>();
    const pieces = partPieces();
    kept.set(await client.uploadPieces(pieces), Buffer.concat(pieces));
    for (let i = 0; i < 20; i++) {
      const bytes = randomBytes(1000 * (1 + 2 * i));
      kept.set(await client.upload(bytes), bytes);
    }
    const doomed = await Promise.all(Array.from({ length: 20 }, () => client.upload(randomBytes(40_000))));

    let isOver = false;
    const load = [0, 1, 2, 3].map(async (worker) => {
      for (let i = 0; !isOver; i++) {
        await client.upload(randomBytes(10_000 * (1 + (i % 2))));
        const file = doomed[worker + 4 * i];
        if (file !== undefined) await client.remove(file.key);
      }
    });
    const report = await runJson(["backup", target], env);
    isOver = true;
    await Promise.all(load);

    assert.deepEqual(Object.keys(report), [
      "directory",
      "database",
      "secret",
      "objects",
      "bytes",
      "copied",
      "copiedBytes",
      "removed",
      "deletedMeanwhile",
      "missing",
      "damaged",
    ]);
    assert.deepEqual(
      [report.database, report.secret, report.missing, report.damaged],
      ["upstow.db", true, [], []],
    );
    assert.deepEqual((await readdir(target)).sort(), [
      "objects",
      "secret",
      "upstow-backup.json",
      "upstow.db",
    ]);

    const restored = await restore();
    try {
      for (const [file, bytes] of kept) {
        const answer = await readAll(restored.url + pathOf(file));
        assert.equal(answer.status, 200, file.key);
        assert.ok(answer.bytes.equals(bytes), file.key);
      }
      const list = await restored.call("GET", "files?limit=100", { key: tenant.live });
      assert.equal(list.status, 200);
      const uploaded = list.body.files.filter((file: UploadedFile) => file.status === "UPLOADED");
      assert.ok(uploaded.length > kept.size);
      if (report.deletedMeanwhile === 0) {
        for (const file of uploaded)
          assert.equal((await readAll(restored.url + pathOf(file))).status, 200, file.key);
      }
    } finally {
      await restored.close();
    }
  });

  it("run again, copies what is new, drops what was deleted and repeats nothing", async () => {
    const tenant = await app.createTenant("enterprise");
    const client = createUploadClient(app, tenant.live);
    const gone = await client.upload(randomBytes(40_000));
    const first = await runJson(["backup", target], env);
    assert.equal(first.copied, first.objects);
    const idle = await runJson(["backup", target], env);
    assert.deepEqual([idle.copied, idle.removed, idle.objects], [0, 0, first.objects]);
    await client.remove(gone.key);
    await client.upload(randomBytes(40_000));
    // A small one is in the database, which is copied as a whole.
    await client.upload(randomBytes(200));
    const later = await runJson(["backup", target], env);
    assert.deepEqual([later.copied, later.copiedBytes, later.removed], [1, 40_000, 1]);
    assert.equal((await listBlobs(target)).length, later.objects);
  });

  it("shares bytes on one disk when asked to", async () => {
    await createUploadClient(app, app.owner.live).upload(randomBytes(40_000));
    await runJson(["backup", target, "--hard-links"], env);
    const [blob = ""] = await listBlobs(target);
    assert.equal((await stat(blob)).nlink, 2);
  });

  it("writes into no directory that holds something else", async () => {
    await mkdir(target);
    await writeFile(join(target, "letter.txt"), "dear");
    const foreign = await runFailing(["backup", target], env);
    assert.deepEqual([foreign.exitCode, foreign.code], [1, "VALIDATION_ERROR"]);
    assert.deepEqual(await readdir(target), ["letter.txt"]);
    const inside = await runFailing(["backup", join(app.dataDir, "objects", "backup")], env);
    assert.match(inside.message, /inside the data directory/);
    assert.ok(!(await readdir(join(app.dataDir, "objects"))).includes("backup"));
    for (const path of [join(target, "letter.txt"), join(target, "letter.txt", "below")]) {
      const file = await runFailing(["backup", path], env);
      assert.match(file.message, /letter\.txt\S* is a file, or inside one\. Choose an empty directory/);
    }

    const other = await startApp({ database: "sqlite" });
    try {
      const theirs = join(directory, "theirs");
      await runJson(["backup", theirs], envOf(other));
      const mixed = await runFailing(["backup", theirs], env);
      assert.match(mixed.message, /backup of another installation/);
    } finally {
      await other.close();
    }
  });

  it("reports what the disk has lost or damaged, and backs up the rest", async () => {
    const other = await startApp({ database: "sqlite" });
    try {
      const client = createUploadClient(other, other.owner.live);
      for (let i = 0; i < 3; i++) await client.upload(randomBytes(40_000));
      const [lost = "", damaged = ""] = await listBlobs(other.dataDir);
      await unlink(lost);
      await writeFile(damaged, randomBytes(40_000));
      const run = await runUpstow(["backup", target, "--json"], envOf(other));
      assert.equal(run.code, 1);
      const report = JSON.parse(run.stdout);
      assert.deepEqual(report.missing, [lost.slice(-26)]);
      assert.deepEqual(report.damaged, [damaged.slice(-26)]);
      assert.deepEqual([report.objects, (await listBlobs(target)).length], [1, 1]);
      const text = await runUpstow(["backup", target], envOf(other));
      assert.match(text.stdout, /1 files are missing on the disk and 1 are damaged/);
    } finally {
      await other.close();
    }
  });

  it("has nothing to copy where the service was never started", async () => {
    const fresh = { UPSTOW_DATA_DIR: join(directory, "fresh") };
    await runJson(["account", "create", "--email", "a@b.c"], fresh);
    const failure = await runFailing(["backup", target], fresh);
    assert.deepEqual([failure.exitCode, failure.code], [1, "NOT_FOUND"]);
  });
});

describe("backup beside PostgreSQL", () => {
  it("says what it cannot copy where database, files and secret are elsewhere, without a data directory", async () => {
    const app = await startApp({ database: "postgres", env: { UPSTOW_SECRET: "s".repeat(32) } });
    const directory = await mkdtemp(join(tmpdir(), "upstow-backup-"));
    const elsewhere = {
      ...envOf(app),
      UPSTOW_DATA_DIR: join(directory, "none"),
      UPSTOW_SECRET: "s".repeat(32),
      UPSTOW_S3_BUCKET: "my-files",
      UPSTOW_S3_ACCESS_KEY_ID: "k",
      UPSTOW_S3_SECRET_ACCESS_KEY: "s",
    };
    try {
      const run = await runUpstow(["backup", join(directory, "backup")], elsewhere);
      assert.equal(run.code, 0, run.stderr);
      for (const words of [
        /pg_dump/,
        /in the bucket my-files are not included/,
        /in UPSTOW_SECRET is not included/,
      ])
        assert.match(run.stdout, words);
    } finally {
      await app.close();
      await rm(directory, { recursive: true });
    }
  });

  it("copies secret and files, and says who copies the database", async () => {
    const app = await startApp({ database: "postgres" });
    const directory = await mkdtemp(join(tmpdir(), "upstow-backup-"));
    try {
      const bytes = randomBytes(70_000);
      const file = await createUploadClient(app, app.owner.live).upload(bytes);
      const target = join(directory, "backup");
      const run = await runUpstow(["backup", target], envOf(app));
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stdout, /pg_dump/);
      assert.deepEqual((await readdir(target)).sort(), ["objects", "secret", "upstow-backup.json"]);
      assert.deepEqual(await readFile(join(target, "secret")), await readFile(join(app.dataDir, "secret")));

      const databaseUrl = app.app.deps.config.databaseUrl ?? "";
      const restored = await startApp({ database: "postgres", reuse: { dataDir: target, databaseUrl } });
      try {
        assert.ok((await readAll(restored.url + pathOf(file))).bytes.equals(bytes));
      } finally {
        await restored.close();
      }
    } finally {
      await app.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
