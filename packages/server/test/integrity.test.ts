import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pino } from "pino";
import { sql } from "#kysely";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import type { Database } from "../src/db/database.ts";
import { createJobLeases } from "../src/db/job-leases.ts";
import { statement } from "../src/db/statement.ts";
import { runDeletions } from "../src/files/storage-deletions.ts";
import { createId } from "../src/kernel/ids.ts";
import type { Finding } from "../src/ops/verify/check-files.ts";
import {
  checkNextFiles,
  continueWalk,
  findWalk,
  hasFindings,
  startWalk,
  type Walk,
} from "../src/ops/verify/walk.ts";
import { periodOf } from "../src/projects/usage/period.ts";
import { releaseUsage } from "../src/projects/usage/quota.ts";
import { shardOf } from "../src/storage/disk/blob-name.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { assertCountersMatch } from "./support/recount.ts";
import {
  type DatabaseKind,
  onAnyDatabase,
  startApp,
  type Tenant,
  type TestApp,
} from "./support/start-app.ts";
import { openStoredObjects, type StoredObjects } from "./support/stored-objects.ts";
import { createUploadClient, partPieces, smallBody, type UploadClient } from "./support/upload-client.ts";

const dayMs = 24 * 3_600_000;

const spoilCounters = statement((q, p: { projectId: string; bytes: number }) =>
  q
    .updateTable("usage_total")
    .set({
      stored_bytes: sql`stored_bytes + cast(${p.bytes} as bigint)`,
      reserved_bytes: sql`reserved_bytes + cast(${p.bytes} as bigint)`,
    })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const countDamage = statement((q, _: object) =>
  q.selectFrom("file_damage").select((e) => e.fn.countAll<number>().as("count")),
);

describe("files on the disk", () => {
  onAnyDatabase("integrity", (database) => describeIntegrity("disk", () => startApp({ database })));
});

describe("files in a bucket", { skip: swiftMissing }, () => {
  const s3 = setUpFaultyS3();
  const describeInBucket = (database: DatabaseKind) =>
    describeIntegrity("bucket", async () => startApp({ database, env: await s3.createEnv() }));
  onAnyDatabase("integrity", describeInBucket, "postgres");

  it("are bound to their ETag without another request", async () => {
    const app = await startApp({ env: await s3.createEnv() });
    const client = createUploadClient(app, (await app.createTenant("pro")).live);
    const file = await client.upload();
    const asked: string[] = [];
    s3.proxy.setFaults(({ method, headers }) => {
      asked.push(`${method} ${headers["if-match"] ?? "unbound"}`);
      return null;
    });
    const answer = await fetch(file.url);
    assert.deepEqual(Buffer.from(await answer.arrayBuffer()), smallBody);
    assert.deepEqual(asked, [`GET ${answer.headers.get("etag")}`]);
    await fetch(file.url, { method: "HEAD" });
    assert.deepEqual(asked.slice(1), ["HEAD unbound"]);
    await app.close();
  });
});

function describeIntegrity(kind: "disk" | "bucket", start: () => Promise<TestApp>): void {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  let stored: StoredObjects;
  before(async () => {
    app = await start();
    await keepServiceFromWalking(app.app.deps.db);
    tenant = await app.createTenant("enterprise");
    client = createUploadClient(app, tenant.live);
    stored = openStoredObjects(app);
  });
  after(() => app.close());

  interface WalkSettings {
    fix?: boolean;
    share?: number;
    /** Moves the walk's clock, so that what was just stored counts as old. */
    laterMs?: number;
    mostSteps?: number;
    from?: Walk;
    signal?: AbortSignal;
    onStep?: (walk: Walk) => void;
  }

  async function verify(settings: WalkSettings = {}): Promise<{ walk: Walk; findings: Finding[] }> {
    const { fix = false, share = 0, laterMs = 0, mostSteps, from, signal, onStep = () => {} } = settings;
    const findings: Finding[] = [];
    const now = () => app.clock.now() + laterMs;
    const walk = await continueWalk(
      { ...app.app.deps, now },
      { walk: from ?? startWalk({ fix, share, acceptEtags: false }), startedAt: now() },
      {
        name: "verify-command",
        mostFilesPerCounter: Number.POSITIVE_INFINITY,
        onFinding: (finding) => findings.push(finding),
        onStep,
        signal: signal ?? new AbortController().signal,
        ...(mostSteps === undefined ? {} : { mostSteps }),
      },
    );
    return { walk, findings };
  }

  const damagedIn = (findings: Finding[]) =>
    findings.flatMap((finding) =>
      finding.kind === "damaged-file" ? [[finding.fileId, finding.reason]] : [],
    );
  const read = async (url: string, method = "GET") => {
    const answer = await fetch(url, { method });
    const text = await answer.text();
    return answer.status === 200 || method === "HEAD"
      ? answer.status
      : [answer.status, JSON.parse(text).error.code];
  };
  const metric = async (name: string) => {
    const text = await app.app.deps.metrics.metrics();
    return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
  };
  const uploadBytes = (size = 200_000) =>
    client.upload(randomBytes(size), { contentType: "application/octet-stream" });

  it("finds nothing wrong with sound files, whatever their size, number of parts and access", async () => {
    await client.upload();
    await uploadBytes();
    await client.uploadPieces(partPieces());
    const moved = await client.uploadPieces(partPieces());
    for (const access of ["private", "public", "private"]) await client.patch(moved.key, { access });
    await client.upload(randomBytes(5000), { access: "private" });
    await client.remove((await client.upload()).key);
    const open = await client.request({ fileSize: 9 });
    await fetch(open.uploadUrl, {
      method: "PUT",
      body: "123456789",
      headers: { "content-type": "text/plain" },
    });
    await client.init();
    const { walk, findings } = await verify({ share: 1, laterMs: 2 * dayMs, fix: true });
    assert.deepEqual(findings, []);
    assert.equal(hasFindings(walk), false);
    assert.ok(walk.checkedFiles >= 5 && walk.checkedObjects >= 5 && walk.checkedCounters >= 2);
    assert.equal((await client.complete(open.fileId)).status, 200);
  });

  const damages: [string, (key: string, bytes: Buffer) => Promise<void>, string[]][] = [
    ["a missing object", (key) => stored.remove(key), ["missing"]],
    ["an object cut short", (key) => stored.cutShort(key), ["wrong-size"]],
    [
      "an object overwritten with the same size",
      (key, bytes) => stored.replace(key, randomBytes(bytes.length)),
      ["wrong-etag", "wrong-checksum"],
    ],
  ];
  for (const [name, damage, reasons] of damages) {
    it(`never serves ${name}, reports it until its bytes are back, and deletes nothing`, async () => {
      const file = await uploadBytes(100_000);
      const other = await uploadBytes();
      const bytes = await stored.read(file.key);
      const path = (await app.app.deps.store.localFiles?.findPath(file.key)) ?? null;
      await damage(file.key, bytes);
      const readsBefore = await metric("upstow_damaged_reads_total");
      for (const method of ["GET", "HEAD", "GET"])
        assert.deepEqual(await read(file.url, method), method === "HEAD" ? 500 : [500, "FILE_DAMAGED"]);
      assert.equal(await metric("upstow_damaged_reads_total"), readsBefore + 3);
      assert.ok(app.logLines.some((line) => line.includes(file.id) && line.includes("missing or changed")));
      assert.equal(await read(other.url), 200);

      const { walk, findings } = await verify({ fix: true, share: 1 });
      const [[id, reason] = []] = damagedIn(findings);
      assert.deepEqual([id, walk.damagedFiles], [file.id, 1]);
      assert.ok(reasons.includes(String(reason)), reason);
      assert.equal(await metric("upstow_damaged_files"), 1);
      assert.equal((await client.get(file.key)).status, 200);

      // What was found by reading is read again, although this walk reads no other.
      if (path === null) await stored.replace(file.key, bytes);
      else await writeFile(join(app.dataDir, "objects", path), bytes);
      assert.deepEqual(damagedIn((await verify()).findings), []);
      assert.equal(await metric("upstow_damaged_files"), 0);
      assert.equal(await read(file.url), 200);
    });
  }

  it("answers a damaged file with 404 once it is deleted, and forgets it", async () => {
    const file = await uploadBytes();
    await stored.remove(file.key);
    assert.deepEqual(damagedIn((await verify()).findings), [[file.id, "missing"]]);
    assert.equal((await client.remove(file.key)).status, 200);
    assert.deepEqual(await read(file.url), [404, "NOT_FOUND"]);
    assert.equal(await metric("upstow_damaged_files"), 0);
    assert.deepEqual((await verify()).findings, []);
    assert.equal((await app.app.deps.db.get(countDamage, {}))?.count, 0);
  });

  it("never takes a deletion or a move for damage, whoever reads or walks meanwhile", async () => {
    const files = await Promise.all(
      Array.from({ length: kind === "disk" && !isQuickRun ? 12 : 4 }, () => uploadBytes(30_000)),
    );
    let isOver = false;
    const readers = files.map(async ({ url }) => {
      const seen = new Set<number>();
      while (!isOver) seen.add((await fetch(url)).status);
      return [...seen];
    });
    const found: Finding[] = [];
    const walking = (async () => {
      while (!isOver) found.push(...(await verify({ fix: true, laterMs: 2 * dayMs })).findings);
    })();
    await Promise.all(
      files.map(async ({ key }) => {
        for (const access of ["private", "public", "private", "public"])
          assert.equal((await client.patch(key, { access })).status, 200);
        assert.equal((await client.remove(key)).status, 200);
      }),
    );
    isOver = true;
    await walking;
    for (const statuses of await Promise.all(readers))
      assert.deepEqual(
        statuses.filter((status) => status !== 200 && status !== 404),
        [],
      );
    // A file of the disk has no record for a moment before it is removed.
    assert.deepEqual(
      found.filter((finding) => finding.kind !== "orphaned-object" || finding.key.includes("/")),
      [],
    );
  });

  it("finds old objects without a file, and deletes only those of its own projects", async () => {
    const { store } = app.app.deps;
    const file = await uploadBytes();
    const nameIn = (projectId: string) => `${projectId}/default/${createId(app.clock.now())}/left.bin`;
    const orphan = nameIn(tenant.projectId);
    const apart = `private/${nameIn(tenant.projectId)}`;
    const foreign = nameIn(createId(app.clock.now()));
    for (const key of [orphan, apart, foreign])
      await store.write(key, Buffer.from("left"), { contentType: "a/b" });
    assert.deepEqual((await verify({ fix: true })).findings, [], "young ones may belong to an upload");

    const kindsOf = (findings: Finding[]) =>
      findings.flatMap((finding) => ("key" in finding ? [`${finding.kind} ${finding.key}`] : [])).sort();
    const all = [`foreign-object ${foreign}`, `orphaned-object ${apart}`, `orphaned-object ${orphan}`].sort();
    const laterMs = 2 * dayMs;
    assert.deepEqual(kindsOf((await verify({ laterMs })).findings), all);
    assert.deepEqual(kindsOf((await verify({ laterMs })).findings), all, "a report changes nothing");
    assert.deepEqual(kindsOf((await verify({ laterMs, fix: true })).findings), all);
    await runDeletions({ ...app.app.deps, now: () => app.clock.now() + 3 * dayMs });
    assert.deepEqual(kindsOf((await verify({ laterMs })).findings), [`foreign-object ${foreign}`]);
    await store.delete([foreign]);
    assert.equal(await read(file.url), 200);
  });

  const itOnDisk = kind === "disk" ? it : () => {};
  itOnDisk("finds files that have no record", async () => {
    const blob = createId(app.clock.now() - 3 * dayMs);
    const directory = join(app.dataDir, "objects", "blobs", shardOf(blob));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, blob), "stray");
    const stray = [{ kind: "orphaned-object", key: blob }];
    assert.deepEqual((await verify()).findings, stray);
    assert.deepEqual((await verify({ fix: true })).findings, stray);
    assert.deepEqual(await readdir(directory), []);
    assert.deepEqual((await verify()).findings, []);
  });

  it("sets wrong counters to a recount", async () => {
    await uploadBytes();
    await client.request({ fileSize: 1234 });
    const { db } = app.app.deps;
    const { projectId } = tenant;
    await db.run(spoilCounters, { projectId, bytes: 77 });
    const now = app.app.deps.now();
    const uploadsByPeriod = new Map([[periodOf(now), -3]]);
    const spoilt = { storedBytes: 0, reservedBytes: 0, uploadsByPeriod };
    await db.transact((tx) => releaseUsage(tx, now, { projectId, environment: "live" }, spoilt));
    const wrong = (await verify()).findings;
    assert.equal(wrong.length, 1);
    const [finding] = wrong;
    assert.ok(finding?.kind === "wrong-counter");
    assert.deepEqual(
      [finding.projectId, finding.environment, finding.storedBytes, finding.reservedBytes],
      [tenant.projectId, "live", 77, 77],
    );
    assert.deepEqual(
      finding.reservedUploads.map(({ count }) => count),
      [3],
    );
    assert.equal((await verify({ fix: true })).walk.wrongCounters, 1);
    await assertCountersMatch(app, tenant.projectId);
    assert.deepEqual((await verify()).findings, []);
  });

  it("counts right while uploads and deletions go on", async () => {
    const { db } = app.app.deps;
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      for (let round = 0; !isOver; round++) {
        const file = await client.upload(randomBytes(1000 + round));
        if (round % 2 === 0) await client.remove(file.key);
        else await client.request({ fileSize: 500 });
      }
    });
    for (let round = 0; round < (isQuickRun ? 3 : 5); round++) {
      await db.run(spoilCounters, { projectId: tenant.projectId, bytes: 1000 + round });
      const { findings } = await verify({ fix: true, laterMs: 2 * dayMs });
      assert.deepEqual(
        findings.map((finding) => finding.kind === "wrong-counter" && finding.storedBytes),
        [1000 + round],
      );
    }
    isOver = true;
    await Promise.all(load);
    await assertCountersMatch(app, tenant.projectId);
  });

  // More than a step takes; in a bucket every one that is missing costs two requests.
  const missing = kind === "disk" ? 250 : 20;

  it("goes on where it was interrupted", async () => {
    const { db, store } = app.app.deps;
    const crowd = await app.createTenant("enterprise");
    // Rows alone: every one of them is found missing, exactly once.
    await insertManyFiles(app, {
      projectId: crowd.projectId,
      count: missing,
      describe: () => ({ store: store.name }),
    });
    const stop = new AbortController();
    const first = await verify({ signal: stop.signal, onStep: () => stop.abort() });
    assert.deepEqual([first.walk.step, first.walk.hasEnded], [kind === "disk" ? "files" : "objects", false]);
    const kept = await findWalk(db, "verify-command");
    assert.ok(kept);
    assert.deepEqual(kept.walk, first.walk);
    const rest = await verify({ from: kept.walk });
    assert.equal(rest.walk.hasEnded, true);
    const found = [...damagedIn(first.findings), ...damagedIn(rest.findings)].map(([id]) => id);
    assert.deepEqual(
      [found.length, new Set(found).size, rest.walk.damagedFiles],
      [missing, missing, missing],
    );
  });

  it("walks by itself, a slice at a time, and rests for a day", async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    // The service does the same by itself; its next walk is far from due then.
    const after = (days: number) => ({ ...app.app.deps, log, now: () => app.clock.now() + days * dayMs });
    const { db } = app.app.deps;
    await checkNextFiles(after(10), new AbortController().signal);
    const ended = await findWalk(db, "verify");
    assert.equal(ended?.walk.hasEnded, true);
    assert.equal(ended.walk.damagedFiles, missing);
    assert.equal(lines.filter((line) => line.includes("do not match")).length, 20);
    await checkNextFiles(after(10), new AbortController().signal);
    assert.deepEqual(await findWalk(db, "verify"), ended);
    await checkNextFiles(after(11), AbortSignal.abort());
    assert.notEqual((await findWalk(db, "verify"))?.startedAt, ended.startedAt);
  });
}

/** It would walk a minute after its start, at the same time as a slow test, over the same record. */
async function keepServiceFromWalking(db: Database): Promise<void> {
  const isDone = async () => {};
  await createJobLeases(db)("compare records and stored files", dayMs, isDone, new AbortController().signal);
}
