import { statfs } from "node:fs/promises";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { sql } from "#kysely";
import type { Database } from "../db/database.ts";
import { type Statement, statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { countPendingScans, mostPendingCounted } from "../files/scanning/queries.ts";
import { exposeForAll } from "../http/metrics.ts";
import type { ReadOnlyMode } from "../http/read-only.ts";
import { watchCalls } from "../kernel/calls.ts";
import { version } from "../kernel/version.ts";
import { countDueFacts, mostDueCounted } from "../serving/images/describe-images.ts";
import { countDamagedFiles } from "./verify/check-files.ts";

/** From a cached page to a bucket's time limit. */
const callBucketsSec = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Observes every call of this process to what it depends on. Returns what ends it. */
export function measureCalls(registry: Registry): () => void {
  const durations = new Histogram({
    name: "upstow_dependency_call_duration_seconds",
    help: "Duration of each call to a database, a bucket, Redis, a webhook endpoint or a renderer.",
    labelNames: ["dependency", "operation", "outcome"],
    buckets: callBucketsSec,
    registers: [registry],
  });
  return watchCalls(({ to: dependency, operation }) => {
    const startedAt = performance.now();
    return {
      end(error) {
        const outcome = error === undefined ? "ok" : "error";
        durations.observe({ dependency, operation, outcome }, (performance.now() - startedAt) / 1000);
      },
    };
  });
}

/** The process's version and remaining resources. */
export function exposeState(
  { config, db, metrics }: Pick<Deps, "config" | "db" | "metrics">,
  readOnly: ReadOnlyMode,
): void {
  const registers = [metrics];
  const build = { version, node: process.version, database: db.dialect, storage: config.s3 ? "s3" : "disk" };
  new Gauge({
    name: "upstow_build_info",
    help: "Always 1. The labels describe what is running.",
    labelNames: Object.keys(build),
    registers,
  }).set(build, 1);
  new Gauge({
    name: "upstow_read_only",
    help: "Whether changes are rejected because the installation is being moved.",
    registers,
    collect() {
      this.set(readOnly.isOn() ? 1 : 0);
    },
  });
  const exposeDisk = (name: string, help: string, blocks: "blocks" | "bavail") =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const disk = await statfs(config.dataDir).catch(() => null);
        // Instances with a bucket and UPSTOW_SECRET need no data directory.
        if (disk === null) this.remove();
        else this.set(disk[blocks] * disk.bsize);
      },
    });
  const fileSystem = "the data directory's file system";
  exposeDisk("upstow_data_dir_size_bytes", `Size of ${fileSystem}.`, "blocks");
  exposeDisk("upstow_data_dir_free_bytes", `Bytes left on ${fileSystem}.`, "bavail");
  exposePool(db, metrics);
}

/** SQLite has none. */
function exposePool({ pool }: Database, metrics: Registry): void {
  if (pool === undefined) return;
  new Gauge({
    name: "upstow_db_pool_connections",
    help: "Connections to PostgreSQL by state: used or idle.",
    labelNames: ["state"],
    registers: [metrics],
    collect() {
      const { open, idle } = pool();
      this.set({ state: "used" }, open - idle);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "upstow_db_pool_max_connections",
    help: "Maximum number of connections to PostgreSQL that this process opens.",
    registers: [metrics],
  }).set(pool().most);
  new Gauge({
    name: "upstow_db_pool_waiting",
    help: "Work waiting for a connection to PostgreSQL.",
    registers: [metrics],
    collect() {
      this.set(pool().waiting);
    },
  });
}

/** Counting more would take longer than a scrape should. */
const mostCounted = 100_000;

export const countDeletions = statement((q, _: object) =>
  q
    .selectFrom((inner) => inner.selectFrom("storage_deletion").select("id").limit(mostCounted).as("counted"))
    .select(sql<number>`count(*)`.as("count")),
);

/** Work that waits, and damage. */
export function exposeBacklog(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  isSpeaker: () => Promise<boolean>,
): void {
  const expose = (name: string, help: string, counting: Statement<object, { count: number }>) =>
    exposeForAll(metrics, isSpeaker, () => db.get(counting, {}), [
      { name, help: `${help} (all instances).`, show: (gauge, { count }) => gauge.set(count) },
    ]);
  const pending = `Stored objects waiting to be deleted, up to ${mostCounted}`;
  expose("upstow_storage_deletions_pending", pending, countDeletions);
  expose("upstow_images_waiting", `Images still to be read, up to ${mostDueCounted}`, countDueFacts);
  const unscanned = `Files waiting for their virus scan, up to ${mostPendingCounted}`;
  expose("upstow_scans_pending", unscanned, countPendingScans);
  const damaged = "Files with missing or changed bytes in the last check of stored files";
  expose("upstow_damaged_files", damaged, countDamagedFiles);
}

/** Counts reads rejected because the bytes are not the confirmed ones, and logs their files. */
export function countDamagedReads({ metrics, log }: Pick<Deps, "metrics" | "log">): Deps["onDamagedRead"] {
  const reads = new Counter({
    name: "upstow_damaged_reads_total",
    help: "Reads rejected because the bytes of a confirmed file are missing or changed.",
    registers: [metrics],
  });
  return (fileId) => {
    reads.inc();
    log.error({ fileId }, "the bytes of a file are missing or changed; see `upstow verify`");
  };
}

/** Whether background work gets done. */
export interface BackgroundMetrics {
  countRun(task: string, durationMs: number): void;
  countFailure(task: string): void;
}

/** The label is not `job`, which is Prometheus' own name for what it scrapes. */
export function createBackgroundMetrics(registry: Registry): BackgroundMetrics {
  const registers = [registry];
  const labelNames = ["task"];
  const runs = new Counter({
    name: "upstow_background_runs_total",
    help: "Runs of background work on this instance, by outcome.",
    labelNames: [...labelNames, "outcome"],
    registers,
  });
  const succeededAt = new Gauge({
    name: "upstow_background_last_success_timestamp_seconds",
    help: "When background work last succeeded on this instance. The maximum over all instances counts.",
    labelNames,
    registers,
  });
  const duration = new Gauge({
    name: "upstow_background_last_duration_seconds",
    help: "How long the last successful run took.",
    labelNames,
    registers,
  });
  return {
    countRun(task, durationMs) {
      runs.inc({ task, outcome: "ok" });
      succeededAt.set({ task }, Date.now() / 1000);
      duration.set({ task }, durationMs / 1000);
    },
    countFailure: (task) => runs.inc({ task, outcome: "error" }),
  };
}
