import { MB, SCANS_AT_ONCE } from "@upstow/contract";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { StorageUnavailable } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { createDueTurns, createWorkers, stopping, type Workers } from "../workers.ts";
import { type Clamd, createClamd, type ScanAnswer } from "./clamd.ts";
import { findDueScan, moveScan } from "./queries.ts";
import { type ScannerDeps, settleScan } from "./settle-scan.ts";

/** Scans confirmed files for viruses before anyone can read them, while the scanner is there. */
export type Scanner = Workers;

/** Extended while a scan runs, so it is short: after a crash, others continue once it has ended. */
const leaseMs = 10_000;
/** For the whole of a file. A customer's bucket may answer slowly, or never. */
const scanWithinMs = { start: 60_000, perMB: 4_000, longest: 15 * 60_000 };
/** Scans of files in customers' buckets, which may hang, leave places for all other files. */
const atCustomersAtOnce = SCANS_AT_ONCE / 2;
/** How often a scanner that is away is asked whether it is back. */
const awayPausesMs = { first: 1_000, longest: 30_000 };
/** A file that cannot be scanned is tried again when it is older by this share. */
const retryShare = 0.25;
const retryPausesMs = { first: 1_000, longest: 300_000 };

const lost = new Error("another instance scans the file, or it was deleted");

type Held = { id: string; seen: number };

export function createScanner(deps: ScannerDeps, isResting: () => boolean): Scanner {
  const { config, db, now, log } = deps;
  let presence: "unknown" | "up" | "away" = "unknown";
  const metrics = createScanMetrics(deps.metrics, () => presence === "up");
  if (config.clamd === null) return { look: async () => {}, nudge() {}, close: async () => {} };
  const clamd = createClamd(config.clamd);
  const { maxBytes } = config.clamd;
  let askAgainAtMs = 0;
  let awayPauseMs = awayPausesMs.first;
  let asking: Promise<boolean> | null = null;

  /** Files stay pending until it responds. */
  async function isThere(): Promise<boolean> {
    if (presence === "up") return true;
    if (performance.now() < askAgainAtMs) return false;
    asking ??= askWhetherThere().finally(() => {
      asking = null;
    });
    return asking;
  }

  async function askWhetherThere(): Promise<boolean> {
    try {
      await clamd.ping();
      if (presence === "away") log.info("the virus scanner is available again");
      presence = "up";
      awayPauseMs = awayPausesMs.first;
      return true;
    } catch (error) {
      if (presence !== "away")
        log.error(
          { err: error },
          "the virus scanner is unavailable; files are waiting for it; see `upstow doctor`",
        );
      presence = "away";
      askAgainAtMs = performance.now() + awayPauseMs;
      awayPauseMs = Math.min(2 * awayPauseMs, awayPausesMs.longest);
      return false;
    }
  }

  let atCustomers = 0;
  const isOwn = (file: Pick<FileRow, "store">) => file.store === deps.store.name;
  const claimDue = createDueTurns(
    (projectId) => db.get(findDueScan, { projectId, now: now() }),
    async ({ id, scan_due_at: seen }) => {
      const [claimed] = await db.change(moveScan, { id, seen: seen ?? 0, dueAt: now() + leaseMs });
      return claimed;
    },
    (due) => isOwn(due) || atCustomers < atCustomersAtOnce,
  );

  /** Never rejects: what cannot be recorded is left to the lease. */
  async function work(file: FileRow, stop: AbortController): Promise<void> {
    const held: Held = { id: file.id, seen: file.scan_due_at ?? 0 };
    const places = isOwn(file) ? 0 : 1;
    atCustomers += places;
    const extending = setInterval(() => void extend(held, stop).catch(() => {}), leaseMs / 3);
    try {
      await settleScan(deps, file, await scan(file, stop.signal));
    } catch (error) {
      if (error !== lost)
        await retryLater(file, held, error).catch((failed: unknown) =>
          log.warn({ err: failed, fileId: file.id }, "a scan was left to its lease"),
        );
    } finally {
      clearInterval(extending);
      atCustomers -= places;
    }
  }

  async function extend(held: Held, stop: AbortController): Promise<void> {
    const dueAt = now() + leaseMs;
    const [row] = await db.change(moveScan, { ...held, dueAt });
    if (row === undefined) return stop.abort(lost);
    held.seen = dueAt;
  }

  async function scan(file: FileRow, signal: AbortSignal): Promise<ScanAnswer> {
    if (file.size_bytes > maxBytes) return { verdict: "unscanned" };
    const startedMs = performance.now();
    try {
      const { start, perMB, longest } = scanWithinMs;
      const withinMs = Math.min(start + Math.ceil((file.size_bytes / MB) * perMB), longest);
      const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
      const answer = await sendTo(clamd, deps, file, within);
      metrics.observe(answer.verdict, performance.now() - startedMs);
      return answer;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      metrics.observe("error", performance.now() - startedMs);
      throw error;
    }
  }

  /** Soon if the scanner is away, since then it is asked first; later and later if it is the file. */
  async function retryLater(file: FileRow, held: Held, error: unknown): Promise<void> {
    let pauseMs = 0;
    if (error !== stopping) {
      if (presence === "up") presence = "unknown";
      if (await isThere()) {
        log.warn({ err: error, fileId: file.id }, "a file could not be scanned; will retry");
        const ageMs = now() - (file.completed_at ?? 0);
        const laterMs = Math.min(Math.round(ageMs * retryShare), retryPausesMs.longest);
        pauseMs = Math.max(retryPausesMs.first, laterMs);
      }
    }
    await db.change(moveScan, { ...held, dueAt: now() + pauseMs });
  }

  return createWorkers<FileRow>({
    atOnce: SCANS_AT_ONCE,
    isResting,
    claimNext: async (isOver) => ((await isThere()) ? claimDue(isOver) : null),
    work,
    log,
    jobs: "scans",
  });
}

async function sendTo(
  clamd: Clamd,
  { stores }: Pick<Deps, "stores">,
  file: FileRow,
  signal: AbortSignal,
): Promise<ScanAnswer> {
  const store = await stores.get(file.store);
  const etag = (file.store_etag ?? file.etag) || undefined;
  const source = await store.read(objectKey(file), { etag, signal });
  if (source === null) throw new StorageUnavailable("the bytes of the file are missing or changed");
  const { size_bytes: sizeBytes } = file;
  if (Buffer.isBuffer(source)) return clamd.scan({ sizeBytes, chunks: [source] }, signal);
  try {
    return await clamd.scan({ sizeBytes, chunks: source as AsyncIterable<Buffer> }, signal);
  } finally {
    source.destroy();
  }
}

type Outcome = ScanAnswer["verdict"] | "error";

interface ScanMetrics {
  observe(outcome: Outcome, durationMs: number): void;
}

/** Metrics of this instance's virus scans. */
function createScanMetrics(registry: Registry, isUp: () => boolean): ScanMetrics {
  const registers = [registry];
  const scans = new Counter({
    name: "upstow_scans_total",
    help: "Virus scans that ended, by outcome. A scan that ended with an error is repeated.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["clean", "infected", "unscanned", "error"]) scans.inc({ outcome }, 0);
  const durations = new Histogram({
    name: "upstow_scan_duration_seconds",
    help: "Time of each virus scan, the transfer of the file included.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180],
    registers,
  });
  new Gauge({
    name: "upstow_scanner_up",
    help: "Whether the virus scanner responded to this instance's last check. 0 if there is none.",
    registers,
    collect() {
      this.set(isUp() ? 1 : 0);
    },
  });
  return {
    observe(outcome, durationMs) {
      scans.inc({ outcome });
      durations.observe(durationMs / 1000);
    },
  };
}
