import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../../server/src/db/database.ts";
import { openSqlite } from "../../server/src/db/sqlite/sqlite.ts";
import type { BlobCatalog } from "../../server/src/ops/backup/copy-blobs.ts";
import { type BackupReport, runBackup } from "../../server/src/ops/backup/run-backup.ts";
import { shardOf } from "../../server/src/storage/disk/blob-name.ts";
import { listBlobFiles, markBlob } from "../../server/src/storage/disk/blob-records.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUploadClient, type UploadedFile } from "../../server/test/support/upload-client.ts";
import { readAll } from "./support/run-upstow.ts";

const pathOf = (blob: string) => join("blobs", shardOf(blob), blob);

/** `onListed` is told of every page of files that the backup reads, before anything of it is copied. */
function backUpListening(
  app: TestApp,
  target: string,
  onListed: (of: Queryable, rows: { blob: string }[]) => Promise<void>,
): Promise<BackupReport> {
  const { db, config, now } = app.app.deps;
  const catalog: BlobCatalog = {
    pathOf,
    async list(of, page) {
      const rows = await listBlobFiles(of, page);
      await onListed(of, rows);
      return rows;
    },
    markDamaged: (of, blob) => markBlob(of, blob, 1),
  };
  const deps = { config, db, now, catalog, openSnapshot: openSqlite, onProgress() {} };
  return runBackup(deps, target, { hardLinks: false });
}

/** After each of the first snapshots a file that it names goes before it is copied, and another one comes. */
async function backUpWhileDeleting(app: TestApp, target: string, deletions: number) {
  const client = createUploadClient(app, app.owner.live);
  const upload = () => client.upload(randomBytes(40_000));
  const doomed = [await upload()];
  const snapshots = new Set<unknown>();
  const churn = async (rows: { blob: string }[]) => {
    const file = doomed.at(-1);
    if (file === undefined) return;
    await removeWithBytes(app, () => client.remove(file.key), rows);
    doomed.push(await upload());
  };
  const report = await backUpListening(app, target, async (of, rows) => {
    const isNew = of !== app.app.deps.db && !snapshots.has(of);
    if (isNew) snapshots.add(of);
    if (isNew && snapshots.size <= deletions) await churn(rows);
  });
  return { report, snapshots: snapshots.size, deleted: doomed.slice(0, deletions) };
}

async function removeWithBytes(app: TestApp, remove: () => Promise<unknown>, rows: { blob: string }[]) {
  const countThere = async () => {
    const found = rows.map(({ blob }) => stat(join(app.dataDir, "objects", pathOf(blob))).catch(() => null));
    return (await Promise.all(found)).filter((file) => file !== null).length;
  };
  const before = await countThere();
  await remove();
  while ((await countThere()) === before) await wait(10);
}

describe("a file deleted while a backup runs", () => {
  for (const deletions of [1, 9]) {
    it(`leaves a backup that starts, with ${deletions} deletions, one after each snapshot`, async () => {
      const app = await startApp({ database: "sqlite" });
      const directory = await mkdtemp(join(tmpdir(), "upstow-backup-"));
      try {
        const client = createUploadClient(app, app.owner.live);
        const bytes = randomBytes(40_000);
        const kept = await client.upload(bytes);
        const target = join(directory, "backup");
        const { report, snapshots, deleted } = await backUpWhileDeleting(app, target, deletions);
        // The second snapshot no longer names what was deleted; a fifth that does is kept and marked.
        assert.equal(snapshots, deletions === 1 ? 2 : 5);
        assert.equal(report.deletedMeanwhile, deletions === 1 ? 0 : 1);
        assert.deepEqual([report.missing, report.damaged], [[], []]);
        // The directory was empty, so everything in it was copied, in whichever round.
        if (deletions === 1) assert.deepEqual(report.copied, report.total);
        await cp(target, join(directory, "restored"), { recursive: true });
        const restored = await startApp({
          database: "sqlite",
          reuse: { dataDir: join(directory, "restored") },
        });
        try {
          const read = (file: UploadedFile) => readAll(restored.url + new URL(file.url).pathname);
          assert.ok((await read(kept)).bytes.equals(bytes));
          const gone = await Promise.all(deleted.map(read));
          assert.ok(gone.every((answer) => answer.status !== 200));
        } finally {
          await restored.close();
        }
      } finally {
        await app.close();
        await rm(directory, { recursive: true, force: true });
      }
    });
  }

  it("is told from one that the disk has lost, with PostgreSQL too", async () => {
    const app = await startApp({ database: "postgres" });
    const directory = await mkdtemp(join(tmpdir(), "upstow-backup-"));
    try {
      const client = createUploadClient(app, app.owner.live);
      const upload = () => client.upload(randomBytes(40_000));
      await upload();
      const [lostRow] = await listBlobFiles(app.app.deps.db, { after: "", before: "~", limit: 1 });
      assert.ok(lostRow);
      await rm(join(app.dataDir, "objects", pathOf(lostRow.blob)));
      const doomed = await upload();
      let listings = 0;
      const report = await backUpListening(app, join(directory, "backup"), async (_of, rows) => {
        listings++;
        // The first one measures; what the second one names is copied.
        if (listings === 2) await removeWithBytes(app, () => client.remove(doomed.key), rows);
      });
      assert.deepEqual([report.deletedMeanwhile, report.missing], [1, [lostRow.blob]]);
    } finally {
      await app.close();
      await rm(directory, { recursive: true, force: true });
    }
  });
});
