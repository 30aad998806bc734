import { stat, unlink } from "node:fs/promises";
import type { Database } from "../../db/database.ts";
import type { BlobFiles } from "./blob-files.ts";
import { blobNamedAt, isFileName, isShard, shardEndsAt, shardOf } from "./blob-name.ts";
import { forgetGone, listBlobFiles, listGone } from "./blob-records.ts";

export interface DiskSweepOptions {
  /** Only report what would be removed. */
  dryRun?: boolean;
  /** Minimum age of a temporary file or a blob without a record. */
  graceMs: number;
  /** The maximum damage that a wrong clock or database can do at once. */
  maxDeletions: number;
  now: number;
}

export interface DiskSweepReport {
  tempFiles: string[];
  orphanBlobs: string[];
  tombstones: string[];
  /** Blobs in the database that are missing on disk. Nothing is removed because of them. */
  missingBlobs: string[];
  /** True if there was more to remove than `maxDeletions` allowed. */
  capped: boolean;
}

type ShardDeps = Pick<SweepDeps, "db" | "files">;

export interface SweepDeps {
  db: Database;
  files: BlobFiles;
  /** How long a URL signed before a deletion can remain valid. */
  urlLifeMs: number;
  isArriving: (key: string) => boolean;
}

const pageRows = 1000;

export async function sweepDisk(deps: SweepDeps, options: DiskSweepOptions): Promise<DiskSweepReport> {
  const report: DiskSweepReport = {
    tempFiles: [],
    orphanBlobs: [],
    tombstones: [],
    missingBlobs: [],
    capped: false,
  };
  let left = options.maxDeletions;

  /** Removes one file within the limit, or only counts it in a dry run. */
  const take = async (list: string[], name: string, remove: () => Promise<unknown>): Promise<void> => {
    if (left === 0) {
      report.capped = true;
      return;
    }
    left--;
    if (options.dryRun !== true) await remove();
    list.push(name);
  };

  await sweepTemp(deps, options, (name) =>
    take(report.tempFiles, name, () => unlink(deps.files.tempPath(name))),
  );
  for await (const shard of eachShard(deps)) {
    const { orphans, missing } = await compareShard(deps, shard, options.now - options.graceMs);
    for (const blob of orphans) await take(report.orphanBlobs, blob, () => deps.files.remove([blob]));
    report.missingBlobs.push(...missing);
    if (options.dryRun !== true && shardEndsAt(shard) < options.now - options.graceMs)
      await deps.files.removeShardIfEmpty(shard);
  }
  const before = options.now - deps.urlLifeMs;
  for (const key of await listGone(deps.db, { before, limit: left + 1 })) {
    if (!deps.isArriving(key)) await take(report.tombstones, key, () => forgetGone(deps.db, { key, before }));
  }
  return report;
}

async function sweepTemp(
  { files }: SweepDeps,
  options: DiskSweepOptions,
  remove: (name: string) => Promise<void>,
): Promise<void> {
  for (const name of await files.listTemp()) {
    if (files.inUse.has(name)) continue;
    const found = await stat(files.tempPath(name)).catch(() => null);
    if (found !== null && found.mtimeMs < options.now - options.graceMs) await remove(name);
  }
}

/** The shards on disk and in the database, so that a lost directory is noticed too. */
async function* eachShard({ db, files }: ShardDeps, afterShard = ""): AsyncGenerator<string> {
  const onDisk = (await files.listShards()).filter((name) => isShard(name) && name > afterShard).sort();
  let after = afterShard === "" ? "" : `${afterShard}~`;
  for (;;) {
    const [record] = await listBlobFiles(db, { after, before: "~", limit: 1 });
    const [fromDisk] = onDisk;
    const fromDatabase = record && shardOf(record.blob);
    const next = fromDatabase === undefined || (fromDisk ?? "~") < fromDatabase ? fromDisk : fromDatabase;
    if (next === undefined) return;
    if (next === fromDisk) onDisk.shift();
    yield next;
    after = `${next}~`;
  }
}

/**
 * The directory is listed before the records are read: a blob that gains its record in between is then seen as
 * needed, and only blobs older than the grace period are considered.
 */
async function compareShard({ db, files }: ShardDeps, shard: string, olderThan: number) {
  const isOld = (blob: string) => isFileName(blob) && blobNamedAt(blob) < olderThan;
  const found = new Set((await files.listShard(shard)).filter(isOld));
  const orphans = new Set(found);
  const missing: string[] = [];
  let after = shard;
  for (;;) {
    const rows = await listBlobFiles(db, { after, before: `${shard}~`, limit: pageRows });
    for (const { blob } of rows) {
      orphans.delete(blob);
      if (isOld(blob) && !found.has(blob)) missing.push(blob);
    }
    if (rows.length < pageRows) break;
    after = rows.at(-1)?.blob ?? after;
  }
  for (const blob of files.inUse) orphans.delete(blob);
  return { orphans: [...orphans], missing };
}

const shardsAtOnce = 100;

/** Blobs without a record in the next directories, and the last of these; null if there are no more. */
export async function listStrays(
  deps: ShardDeps,
  afterShard: string,
  before: number,
): Promise<{ strays: string[]; lastShard: string | null }> {
  const found: string[] = [];
  let lastShard: string | null = null;
  let count = 0;
  for await (const shard of eachShard(deps, afterShard)) {
    found.push(...(await compareShard(deps, shard, before)).orphans);
    if (++count < shardsAtOnce) continue;
    lastShard = shard;
    break;
  }
  // Leaves out those that were just being deleted.
  const isLeft = await Promise.all(found.map((blob) => stat(deps.files.pathOf(blob)).catch(() => null)));
  return { strays: found.filter((_, i) => isLeft[i] !== null), lastShard };
}
