import { chmod, mkdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { version } from "../../kernel/version.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import {
  copyDurably,
  layoutOf,
  openBackupDirectory,
  syncDirectory,
  writeManifest,
} from "./backup-directory.ts";
import {
  type BlobCatalog,
  type BlobCopyJob,
  type BlobCopyOutcome,
  type CopyCount,
  copyBlobs,
  measureMissing,
} from "./copy-blobs.ts";
import { type BackupResult, backUpEmbedded, type OpenSnapshot, tellApart } from "./embedded.ts";

export interface BackupDeps extends Pick<Deps, "config" | "db" | "now"> {
  catalog: BlobCatalog;
  openSnapshot: OpenSnapshot;
  onProgress: (done: CopyCount, planned: CopyCount) => void;
}

export interface BackupReport {
  directory: string;
  /** Null if the database is PostgreSQL, which is backed up with its own tools. */
  database: "upstow.db" | null;
  /** False if the secret is in UPSTOW_SECRET and thus not in the backup. */
  hasSecret: boolean;
  total: CopyCount;
  copied: CopyCount;
  removed: number;
  /** Files deleted during the backup, which contains their records without bytes. */
  deletedMeanwhile: number;
  /** Blobs in the database that are missing on disk. */
  missing: string[];
  /** Blobs whose bytes are damaged. */
  damaged: string[];
}

/** Copies the whole installation while it is running. Later runs copy only what is new. */
export async function runBackup(
  deps: BackupDeps,
  path: string,
  options: { hardLinks: boolean },
): Promise<BackupReport> {
  const { config, db } = deps;
  const installation = await db.get(findInstallation, {});
  if (installation === null) {
    throw new AppError(
      "NOT_FOUND",
      "The service has never been started here, so there is nothing to back up.",
      {
        suggestion: "Check UPSTOW_DATA_DIR and UPSTOW_DATABASE_URL.",
      },
    );
  }
  const kind = db.dialect === "sqlite" ? "embedded" : "postgres";
  const identity = {
    format: 1,
    version,
    installation: installation.owner_account_id,
    database: kind,
  } as const;
  const takenAt = new Date(deps.now()).toISOString();
  const directory = await openBackupDirectory(path, config.dataDir, identity);
  const layout = layoutOf(directory);
  const source = layoutOf(config.dataDir);
  await mkdir(join(layout.objects, "blobs"), { recursive: true, mode: 0o700 });
  const hasSecret = config.secrets === null && (await copySmallFile(source.secret, layout.secret));
  await copySmallFile(join(source.objects, "identity"), join(layout.objects, "identity"));

  const job: BlobCopyJob = {
    catalog: deps.catalog,
    db,
    from: source.objects,
    to: layout.objects,
    unfinished: layout.unfinished,
    hardLinks: options.hardLinks,
    onProgress: () => {},
  };
  const copy = async (from: BlobCopyJob["db"]) => {
    const planned = await planCopy({ ...job, db: from }, directory);
    return copyBlobs({ ...job, db: from, onProgress: (done) => deps.onProgress(done, planned) });
  };
  const result: BackupResult =
    kind === "embedded"
      ? await backUpEmbedded({ ...deps, source: source.database, layout, copy })
      : await backUpFiles(deps, await copy(db));
  await rm(layout.unfinished, { recursive: true, force: true });
  await syncDirectory(layout.objects);
  await writeManifest(directory, { ...identity, takenAt, ...result.total });
  const database = kind === "embedded" ? "upstow.db" : null;
  return { directory, database, hasSecret, ...result };
}

/** A file deleted during the copy is not lost data, even if the earlier dump still references it. */
async function backUpFiles(deps: BackupDeps, outcome: BlobCopyOutcome): Promise<BackupResult> {
  const { lost, deleted } = await tellApart(deps, outcome.missing);
  return { ...outcome, missing: lost, removed: 0, deletedMeanwhile: deleted.length };
}

/** False if there is none: an installation without files on disk has no identity. */
async function copySmallFile(from: string, to: string): Promise<boolean> {
  if ((await stat(from).catch(() => null)) === null) return false;
  await copyDurably(from, `${to}.new`);
  await chmod(`${to}.new`, 0o600);
  await rename(`${to}.new`, to);
  return true;
}

async function planCopy(job: BlobCopyJob, directory: string): Promise<CopyCount> {
  const missing = await measureMissing(job);
  const disk = await statfs(directory);
  const freeBytes = disk.bavail * disk.bsize;
  if (!job.hardLinks && missing.bytes > freeBytes) {
    throw new AppError(
      "INSUFFICIENT_STORAGE",
      `The backup needs ${missing.bytes} more bytes in ${directory}, but only ${freeBytes} are free.`,
      { suggestion: "Free up space, or choose a larger disk." },
    );
  }
  return missing;
}
