import { createHash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Database, Queryable } from "../../db/database.ts";
import { copyDurably, syncDirectory } from "./backup-directory.ts";

export interface BlobCopyJob {
  catalog: BlobCatalog;
  /** The source of the blobs. */
  db: Queryable;
  from: string;
  to: string;
  unfinished: string;
  /** Hard-link instead of copying if both are on one filesystem. Blobs never change, so this is safe. */
  hardLinks: boolean;
  onProgress: (done: CopyCount) => void;
}

export interface CopyCount {
  objects: number;
  bytes: number;
}

export interface BlobCopyOutcome {
  /** All blobs in the database that the backup now contains. */
  total: CopyCount;
  copied: CopyCount;
  /** In the database but missing on disk. */
  missing: string[];
  /** On disk, but with different bytes than were stored. */
  damaged: string[];
}

const concurrency = 4;
const readBytes = 1024 * 1024;

/** Copies missing blobs: blobs never change, so one of the same name and size is identical. */
export async function copyBlobs(job: BlobCopyJob): Promise<BlobCopyOutcome> {
  const outcome: BlobCopyOutcome = {
    total: { objects: 0, bytes: 0 },
    copied: { objects: 0, bytes: 0 },
    missing: [],
    damaged: [],
  };
  const changedDirectories = new Set<string>();
  const copyOne = async (row: Blob) => {
    const path = job.catalog.pathOf(row.blob);
    if (!(await hasSize(join(job.to, path), row.size_bytes))) {
      const result = await copyBlob(job, row, path);
      if (result === "missing" || result === "damaged") {
        if (row.damaged === 0) outcome[result].push(row.blob);
        return;
      }
      changedDirectories.add(dirname(join(job.to, path)));
      count(outcome.copied, row);
    }
    count(outcome.total, row);
  };
  for await (const page of eachPage(job.catalog, job.db)) {
    await forEach(page, copyOne);
    job.onProgress(outcome.copied);
  }
  for (const directory of changedDirectories) await syncDirectory(directory);
  await syncDirectory(join(job.to, "blobs"));
  return outcome;
}

/** How much a copy would have to write. */
export async function measureMissing(job: Pick<BlobCopyJob, "catalog" | "db" | "to">): Promise<CopyCount> {
  const missing = { objects: 0, bytes: 0 };
  for await (const page of eachPage(job.catalog, job.db)) {
    await forEach(page, async (row) => {
      if (!(await hasSize(join(job.to, job.catalog.pathOf(row.blob)), row.size_bytes))) count(missing, row);
    });
  }
  return missing;
}

async function copyBlob(
  job: BlobCopyJob,
  row: Blob,
  path: string,
): Promise<"copied" | "missing" | "damaged"> {
  const from = join(job.from, path);
  const to = join(job.to, path);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    if (job.hardLinks && (await isLinked(from, to))) return "copied";
    // A file in the backup is always complete.
    const temporary = join(job.unfinished, `${row.blob}.${randomBytes(4).toString("hex")}`);
    await copyDurably(from, temporary);
    if (!(await hasBytes(temporary, row))) return "damaged";
    await rename(temporary, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "missing";
    throw error;
  }
  return "copied";
}

async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await rm(to, { force: true });
    await link(from, to);
    return true;
  } catch (error) {
    // A different filesystem, or one without links, so copy the bytes.
    if (["EXDEV", "EPERM", "ENOTSUP", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return false;
    throw error;
  }
}

async function hasBytes(path: string, row: Blob): Promise<boolean> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: readBytes }), hash);
  return hash.digest("hex") === row.sha256;
}

async function hasSize(path: string, sizeBytes: number): Promise<boolean> {
  return (await stat(path).catch(() => null))?.size === sizeBytes;
}

async function forEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const workers = Array.from({ length: concurrency }, async () => {
    for (const item of rest) await work(item);
  });
  await Promise.all(workers);
}

function count(counter: CopyCount, row: Blob): void {
  counter.objects++;
  counter.bytes += row.size_bytes;
}

/** A file of immutable bytes that the database references. */
interface Blob {
  blob: string;
  size_bytes: number;
  sha256: string;
  /** 1 if known to be damaged. */
  damaged: number;
}

/** The embedded store's records of its files. */
export interface BlobCatalog {
  /** Relative to the object directory. */
  pathOf(blob: string): string;
  /** By name, within the two bounds. */
  list(db: Queryable, page: { after: string; before: string; limit: number }): Promise<Blob[]>;
  markDamaged(db: Database, blob: string): Promise<unknown>;
}

const pageSize = 1000;
const afterAll = "~";

/** All blobs, or those with a name prefix, one page at a time. */
export async function* eachPage(catalog: BlobCatalog, db: Queryable, prefix = ""): AsyncGenerator<Blob[]> {
  let after = prefix;
  for (;;) {
    const page = await catalog.list(db, { after, before: `${prefix}${afterAll}`, limit: pageSize });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.blob;
  }
}

export async function isNamed(catalog: BlobCatalog, db: Queryable, blob: string): Promise<boolean> {
  const near = { after: blob.slice(0, -1), before: `${blob}0`, limit: pageSize };
  return (await catalog.list(db, near)).some((row) => row.blob === blob);
}
