import { type Environment, SANDBOX_STORAGE_BYTES, TIERS, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { AppError } from "../../errors.ts";
import {
  moveBytes,
  noteStorage,
  releaseUploads,
  reserveBytes,
  reserveFirstUploads,
  reserveMoreUploads,
  settleInEarlierMonth,
  settleInThisMonth,
} from "./counter-queries.ts";
import { periodOf } from "./period.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

export interface QuotaLimits {
  storageBytes: number;
  uploads: number;
}

const unlimited = Number.MAX_SAFE_INTEGER;

/**
 * What blocks an upload. A single upload is held up only on the free tier, a multipart one wherever the tier
 * names a figure; the sandbox has its own cap. Elsewhere the overage is counted and allowed.
 */
export function quotaLimits(environment: Environment, tier: TierName, isMultipart: boolean): QuotaLimits {
  if (environment === "test") return { storageBytes: SANDBOX_STORAGE_BYTES, uploads: unlimited };
  if (tier !== "free" && !isMultipart) return { storageBytes: unlimited, uploads: unlimited };
  const { storageBytes, uploadsPerMonth } = TIERS[tier];
  return { storageBytes: storageBytes ?? unlimited, uploads: uploadsPerMonth ?? unlimited };
}

interface Reservation {
  bytes: number;
  count: number;
  period: string;
  done: Promise<void>;
}

/** Not yet asked of the database, by transaction and by what they count on. */
const gathering = new WeakMap<Queryable, Map<string, Reservation>>();

/**
 * Takes the bytes and one upload of this month, or nothing: two callers can never both get the last place. Everybody
 * who uploads to a project waits for these two rows, so this comes last in a transaction. Callers that share a
 * transaction take their places together; if that fails, the transaction does, and each is tried on its own.
 */
export function reserveQuota(
  tx: Queryable,
  scope: Scope,
  upload: { bytes: number; period: string },
  limits: QuotaLimits,
): Promise<void> {
  const { projectId, environment } = scope;
  const name = [projectId, environment, upload.period, limits.storageBytes, limits.uploads].join(" ");
  const inTransaction = gathering.get(tx) ?? new Map<string, Reservation>();
  gathering.set(tx, inTransaction);
  const joined = inTransaction.get(name);
  if (joined !== undefined) {
    joined.bytes += upload.bytes;
    joined.count++;
    return joined.done;
  }
  const take = (): Promise<void> => {
    inTransaction.delete(name);
    return takePlaces(tx, { projectId, environment }, together, limits);
  };
  const together = { ...upload, count: 1, done: Promise.resolve().then(take) };
  inTransaction.set(name, together);
  return together.done;
}

async function takePlaces(
  tx: Queryable,
  scope: Scope,
  { bytes, count, period }: Reservation,
  limits: QuotaLimits,
): Promise<void> {
  const ofMonth = { ...scope, period, count, limit: limits.uploads };
  // Nearly always the month has a row to count on, and changing it costs half of adding it where it is missing.
  const [total, places] = await Promise.all([
    tx.run(reserveBytes, { ...scope, bytes, limit: limits.storageBytes }),
    tx.run(reserveMoreUploads, ofMonth),
  ]);
  if (total === 0) throw quotaReached("storage");
  if (places > 0) return;
  if (count > limits.uploads || (await tx.run(reserveFirstUploads, ofMonth)) === 0)
    throw quotaReached("monthly upload");
}

export async function settleUpload(
  tx: Queryable,
  now: number,
  scope: Scope,
  upload: { reservedBytes: number; storedBytes: number; reservedPeriod: string },
): Promise<void> {
  const { projectId, environment } = scope;
  const period = periodOf(now);
  const settled = { projectId, environment, period: upload.reservedPeriod };
  await Promise.all([
    tx.run(moveBytes, {
      projectId,
      environment,
      stored: upload.storedBytes,
      reserved: -upload.reservedBytes,
    }),
    ...(period === upload.reservedPeriod
      ? [tx.run(settleInThisMonth, settled)]
      : [
          tx.run(settleInEarlierMonth, settled),
          tx.run(noteStorage, { projectId, environment, period, bandwidthBytes: 0 }),
        ]),
  ]);
}

export interface Released {
  storedBytes: number;
  reservedBytes: number;
  /** How many open uploads each month gets back. */
  uploadsByPeriod: Map<string, number>;
}

/** Gives back what deleted, failed or aborted files held. */
export async function releaseUsage(
  tx: Queryable,
  now: number,
  scope: Scope,
  released: Released,
): Promise<void> {
  const { projectId, environment } = scope;
  const changes: Promise<unknown>[] = [
    tx.run(moveBytes, {
      projectId,
      environment,
      stored: -released.storedBytes,
      reserved: -released.reservedBytes,
    }),
  ];
  for (const [period, count] of released.uploadsByPeriod) {
    changes.push(tx.run(releaseUploads, { projectId, environment, period, count }));
  }
  if (released.storedBytes > 0) {
    changes.push(tx.run(noteStorage, { projectId, environment, period: periodOf(now), bandwidthBytes: 0 }));
  }
  await Promise.all(changes);
}

function quotaReached(which: string): AppError {
  return new AppError("TIER_LIMIT_EXCEEDED", `The ${which} quota of this project is reached.`, {
    suggestion: "Delete files you no longer need, wait for the next month, or move to a larger tier.",
  });
}
