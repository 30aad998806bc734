import { statfs } from "node:fs/promises";
import type { Deps } from "../../deps.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { version } from "../../kernel/version.ts";
import { getReports } from "../../ops/maintenance-reports.ts";
import { TIMEOUTS_UNTIL_FAILING } from "../../webhooks/claim.ts";
import { measureQueue } from "../../webhooks/metrics.ts";
import { measureInstallation } from "./admin-queries.ts";

/** How the installation stands, for its owner. */
export async function getStatus(deps: Deps) {
  const { config, db } = deps;
  const [counts, queue, reports, storage] = await Promise.all([
    db.get(measureInstallation, {}),
    db.get(measureQueue, { timeouts: TIMEOUTS_UNTIL_FAILING }),
    getReports(db),
    examineStorage(deps),
  ]);
  if (counts === null || queue === null) throw new Error("the installation could not be measured");
  return {
    version,
    node: process.versions.node,
    startedAt: isoTime(Math.floor(Date.now() - process.uptime() * 1000)),
    publicUrl: config.publicUrl,
    database: db.dialect,
    accounts: counts.accounts,
    projects: counts.projects,
    storedBytes: counts.storedBytes,
    storage: { ...storage, damagedObjects: counts.damaged },
    queues: {
      webhooksWaiting: queue.ready,
      webhooksUnderWay: queue.leased,
      webhookOldestDueSec: Math.max(0, Math.round(queue.oldestMs / 1000)),
      failingEndpoints: queue.failing,
      deletionsWaiting: counts.deletions,
      openUploads: counts.openUploads,
    },
    maintenance: reports.map(({ startedAt, endedAt, ...report }) => ({
      ...report,
      startedAt: isoTime(startedAt),
      endedAt: isoTime(endedAt),
    })),
  };
}

/** A bucket has no size to show; a disk has. */
async function examineStorage({ config, store }: Deps) {
  const problem = await store.check().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const kind = config.s3 === null ? "disk" : "s3";
  const disk = kind === "disk" ? await statfs(config.dataDir).catch(() => null) : null;
  return {
    kind,
    problem,
    freeBytes: disk === null ? null : disk.bavail * disk.bsize,
    totalBytes: disk === null ? null : disk.blocks * disk.bsize,
  };
}
