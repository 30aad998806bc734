import type { Deps } from "../deps.ts";
import type { DiskStore } from "../storage/disk/disk-store.ts";
import type { S3Store } from "../storage/s3/s3-store.ts";
import type { Background } from "./background.ts";
import { keepReport, keepScrub } from "./maintenance-reports.ts";

type UpkeepDeps = Pick<Deps, "db" | "log" | "now">;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const scrubBytesPerSec = 20 * 1024 * 1024;
const maxDeletions = 10_000;

export function maintainDisk(store: DiskStore, background: Background, deps: UpkeepDeps): void {
  background.everyInOne(hourMs, "sweep the object directory", () => sweepDisk(store, deps));
  background.every(60_000, "check stored bytes", (signal) => scrubDisk(store, deps, signal));
}

export function maintainBucket(store: S3Store, background: Background, deps: UpkeepDeps): void {
  background.everyInOne(hourMs, "sweep the bucket", (signal) => sweepBucket(store, deps, signal));
}

export async function sweepDisk(store: Pick<DiskStore, "sweep">, deps: UpkeepDeps): Promise<void> {
  const startedAt = deps.now();
  const report = await store.sweep({ graceMs: dayMs, maxDeletions, now: startedAt });
  if (report.missingBlobs.length > 0)
    deps.log.error({ missing: report.missingBlobs.length }, "stored bytes are missing");
  if (report.capped) warnOfMore(deps);
  await keepReport(deps.db, "sweep", timesFrom(deps, startedAt), {
    temporaryFiles: report.tempFiles.length,
    orphanedObjects: report.orphanBlobs.length,
    forgottenRecords: report.tombstones.length,
    missingObjects: report.missingBlobs.length,
    hasMore: report.capped,
  });
}

export async function scrubDisk(
  store: Pick<DiskStore, "scrub">,
  deps: UpkeepDeps,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = deps.now();
  const report = await store.scrub({ maxBlobs: 1000, bytesPerSec: scrubBytesPerSec, signal });
  await keepScrub(deps.db, timesFrom(deps, startedAt), {
    checkedBlobs: report.checkedBlobs,
    checkedBytes: report.checkedBytes,
    damaged: report.damaged.length,
    mended: report.mended.length,
    hasEnded: report.passEnded,
  });
}

// Later than the reaper, which ends an upload after a day (single) or a week (multipart) without activity.
async function sweepBucket(store: S3Store, deps: UpkeepDeps, signal: AbortSignal): Promise<void> {
  const startedAt = deps.now();
  const report = await store.sweep({
    stagedOlderThanMs: 2 * dayMs,
    uploadsIdleMs: 14 * dayMs,
    maxDeletions,
    now: Date.now(),
    signal,
  });
  if (report.capped) warnOfMore(deps);
  await keepReport(deps.db, "sweep", timesFrom(deps, startedAt), {
    stagedObjects: report.stagedObjects,
    abandonedUploads: report.uploads,
    hasMore: report.capped,
  });
}

function timesFrom(deps: UpkeepDeps, startedAt: number): { startedAt: number; endedAt: number } {
  return { startedAt, endedAt: deps.now() };
}

function warnOfMore({ log }: UpkeepDeps): void {
  log.warn("the sweep found more to remove than one run is allowed to");
}
