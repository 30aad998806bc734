import {
  IMPORT_ATTEMPTS_MAX,
  IMPORT_CONNECT_SEC,
  IMPORT_FAILURES,
  IMPORT_IDLE_SEC,
  IMPORT_MAX_SEC,
  IMPORTS_AT_ONCE,
} from "@upstow/contract";
import { Counter, Gauge, type Registry } from "prom-client";
import { UniqueViolation } from "../../db/database.ts";
import { inSteps } from "../../db/job-leases.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { randomText } from "../../kernel/ids.ts";
import { createWorkers, stopping, type Workers } from "../workers.ts";
import { failImport, ImportFailure, ImportLost, toFailure } from "./failure.ts";
import { createOpenSource } from "./open-source.ts";
import {
  claimImport,
  extendLease,
  forgetImport,
  forgetOldFailures,
  type Held,
  listExpired,
  listNext,
  listSlots,
  releaseAll,
  releaseImport,
} from "./queries.ts";
import { type Claim, type Progress, runImport } from "./run-import.ts";

/** Fetches files from URLs, a few at a time, with accounts taking turns. Other instances continue the work of a closed one. */
export type Importer = Workers;

/** For tests; the service uses the defaults. */
export interface ImporterOptions {
  leaseMs?: number;
  connectMs?: number;
  idleMs?: number;
  wholeMs?: number;
  /** The pause before the second attempt; it doubles from then on. */
  retryMs?: number;
  /** Nothing is started while this is true. */
  isResting?: () => boolean;
}

/** For clients that check why an import failed. */
const keepFailuresMs = 30 * 86_400_000;

export async function forgetFailures(
  { db, now }: Pick<Deps, "db" | "now">,
  signal: AbortSignal,
): Promise<void> {
  const before = now() - keepFailuresMs;
  await inSteps((take) => db.run(forgetOldFailures, { before, take }), signal);
}

const tookTooLong = () => new ImportFailure("timeout", "The import took too long.");

/** Candidates per look; others may take some of them first. */
const listed = 16;
/** Readers see progress this often. */
const progressMs = 1_000;

export function createImporter(deps: Deps, options: ImporterOptions = {}): Importer {
  const { db, now, log, importGuard } = deps;
  const { leaseMs = 30_000, retryMs = 2_000, isResting = () => false } = options;
  const wholeMs = options.wholeMs ?? IMPORT_MAX_SEC * 1000;
  const openSource = createOpenSource(importGuard, {
    connectMs: options.connectMs ?? IMPORT_CONNECT_SEC * 1000,
    idleMs: options.idleMs ?? IMPORT_IDLE_SEC * 1000,
  });
  const atOnce = IMPORTS_AT_ONCE.instance;
  const importer = createWorkers<Claim>({ atOnce, isResting, claimNext, work, log, jobs: "imports" });
  const metrics = createImportMetrics(deps.metrics, importer.running);

  /** An embedded database has one instance, so any import held at startup belongs to a dead process. */
  let hasRecovered = db.dialect !== "sqlite";

  async function claimNext(): Promise<Claim | null> {
    const at = now();
    if (!hasRecovered) await db.run(releaseAll, { now: at });
    hasRecovered = true;
    const expired = await db.all(listExpired, { now: at, take: listed });
    const waiting = expired.length > 0 ? [] : await db.all(listNext, { now: at, take: listed });
    for (const { file_id: fileId, account_id: accountId } of [...expired, ...waiting]) {
      const slot = await findSlot(accountId, fileId);
      const claim = slot === null ? null : await tryClaim(fileId, slot, at);
      if (claim !== null) return claim;
    }
    return null;
  }

  /** Its own if its worker died, otherwise the first free one of its account. */
  async function findSlot(accountId: string, fileId: string): Promise<number | null> {
    const taken = await db.all(listSlots, { accountId });
    const own = taken.find((row) => row.file_id === fileId);
    if (own !== undefined) return own.slot;
    const used = new Set(taken.map(({ slot }) => slot));
    const free = Array.from({ length: IMPORTS_AT_ONCE.account }, (_, i) => i + 1).find(
      (slot) => !used.has(slot),
    );
    return free ?? null;
  }

  async function tryClaim(fileId: string, slot: number, at: number): Promise<Claim | null> {
    try {
      const claiming = { fileId, slot, token: randomText(20), now: at, leaseUntil: at + leaseMs };
      const [row] = await db.change(claimImport, claiming);
      return row === undefined ? null : (row as Claim);
    } catch (error) {
      if (error instanceof UniqueViolation) return null;
      throw error;
    }
  }

  /** One attempt and its outcome. Never rejects: what cannot be recorded is left to the lease. */
  async function work(claim: Claim, stop: AbortController): Promise<void> {
    const held = { fileId: claim.file_id, token: claim.token };
    const progress: Progress = { receivedBytes: claim.received_bytes, totalBytes: claim.total_bytes };
    const holding = holdLease(claim, progress, stop);
    const endsInMs = (claim.started_at ?? 0) + wholeMs - now();
    const late = setTimeout(() => stop.abort(tookTooLong()), Math.max(0, endsInMs));
    try {
      await runImport(deps, openSource, claim, progress, stop.signal).catch((error: unknown) => {
        // A rejected file has ended, so its lease could not be extended, but the rejection is what counts.
        throw stop.signal.aborted && !isRejected(error) ? stop.signal.reason : error;
      });
      metrics.count("imported");
    } catch (error) {
      await settle(claim, held, progress, error).catch((failed: unknown) =>
        log.warn({ err: failed, fileId: claim.file_id }, "an import was left to its lease"),
      );
    } finally {
      clearTimeout(late);
      clearInterval(holding);
      deps.dispatcher.announce();
    }
  }

  /** Extends the lease while it works, and records how far it is. */
  function holdLease(claim: Claim, progress: Progress, stop: AbortController): NodeJS.Timeout {
    let written = { ...progress };
    let writtenAt = performance.now();
    const extend = async () => {
      const isNews =
        progress.receivedBytes !== written.receivedBytes || progress.totalBytes !== written.totalBytes;
      if (!isNews && performance.now() - writtenAt < leaseMs / 3) return;
      const news = { ...progress };
      const at = now();
      const lease = { fileId: claim.file_id, token: claim.token, leaseUntil: at + leaseMs, now: at };
      if ((await db.run(extendLease, { ...lease, ...news })) === 0) return stop.abort(new ImportLost());
      [written, writtenAt] = [news, performance.now()];
      if (isNews) deps.dispatcher.announce();
    };
    return setInterval(() => void extend().catch(() => {}), Math.min(progressMs, leaseMs / 3));
  }

  async function settle(claim: Claim, held: Held, progress: Progress, error: unknown): Promise<void> {
    if (error instanceof ImportLost) return void (await db.run(forgetImport, held));
    // The service stops: this attempt does not count.
    if (error === stopping)
      return void (await db.run(releaseImport, { ...held, runAt: now(), attempts: claim.attempts - 1 }));
    const failure = toFailure(error);
    if (failure === null) throw error;
    if (failure.reason === "storage")
      log.warn({ err: failure.cause, fileId: claim.file_id }, failure.message);
    const pauseMs = retryMs * 2 ** (claim.attempts - 1);
    const isInTime = now() + pauseMs < (claim.started_at ?? 0) + wholeMs;
    if (failure.mayPass && isInTime && claim.attempts < IMPORT_ATTEMPTS_MAX)
      return void (await db.run(releaseImport, {
        ...held,
        runAt: now() + pauseMs,
        attempts: claim.attempts,
      }));
    metrics.count(failure.reason);
    await failImport(deps, held, progress, failure);
  }

  return importer;
}

const isRejected = (error: unknown) => error instanceof AppError && error.code === "CONTENT_MISMATCH";

interface ImportMetrics {
  count(outcome: string): void;
}

/** Metrics of this instance's imports. */
function createImportMetrics(registry: Registry, countRunning: () => number): ImportMetrics {
  const registers = [registry];
  const finished = new Counter({
    name: "upstow_imports_total",
    help: "Imports from a URL that ended, by outcome: imported, or why they failed.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of ["imported", ...IMPORT_FAILURES]) finished.inc({ outcome }, 0);
  new Gauge({
    name: "upstow_imports_running",
    help: "Imports from a URL in progress on this instance.",
    registers,
    collect() {
      this.set(countRunning());
    },
  });
  return { count: (outcome) => finished.inc({ outcome }) };
}
