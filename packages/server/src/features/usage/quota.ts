import { type Environment, SANDBOX_STORAGE_BYTES, TIERS, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { gather } from "../../db/gather.ts";
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

interface Places {
  scope: Scope;
  period: string;
  limits: QuotaLimits;
  bytes: number;
  count: number;
}

/**
 * Takes the bytes and one upload of this month, or nothing: two callers can never both get the last place. Everybody
 * who uploads to a project waits for these two rows, so this comes last in a transaction. Callers that share a
 * transaction take their places together; if that fails, the transaction does, and each is tried on its own.
 */
export function reserveQuota(
  tx: Queryable,
  { projectId, environment }: Scope,
  { bytes, period }: { bytes: number; period: string },
  limits: QuotaLimits,
): Promise<void> {
  const name = [projectId, environment, period, limits.storageBytes, limits.uploads].join(" ");
  const places = { scope: { projectId, environment }, period, limits, bytes, count: 1 };
  return takePlaces(tx, name, places);
}

const takePlaces = gather<Places>(
  (sum, more) => {
    sum.bytes += more.bytes;
    sum.count += more.count;
  },
  async (tx, { scope, period, limits, bytes, count }) => {
    const ofMonth = { ...scope, period, count, limit: limits.uploads };
    // Nearly always the month has a row to count on, and changing it costs half of adding it where it is missing.
    const [total, places] = await Promise.all([
      tx.run(reserveBytes, { ...scope, bytes, limit: limits.storageBytes }),
      tx.run(reserveMoreUploads, ofMonth),
    ]);
    if (total === 0)
      throw quotaReached("storage", scope.environment === "test" ? deleteTestFiles : deleteFiles);
    if (places > 0) return;
    if (count > limits.uploads || (await tx.run(reserveFirstUploads, ofMonth)) === 0)
      throw quotaReached("monthly upload", waitForMonth);
  },
);

interface Settlement {
  scope: Scope;
  /** The month that reserved, and the one that it is now. */
  reservedPeriod: string;
  period: string;
  reservedBytes: number;
  storedBytes: number;
  count: number;
}

/** What was reserved is stored now; together, like the reservations. */
export function settleUpload(
  tx: Queryable,
  now: number,
  { projectId, environment }: Scope,
  upload: { reservedBytes: number; storedBytes: number; reservedPeriod: string },
): Promise<void> {
  const period = periodOf(now);
  const name = [projectId, environment, upload.reservedPeriod, period].join(" ");
  return settle(tx, name, { ...upload, scope: { projectId, environment }, period, count: 1 });
}

const settle = gather<Settlement>(
  (sum, more) => {
    sum.reservedBytes += more.reservedBytes;
    sum.storedBytes += more.storedBytes;
    sum.count += more.count;
  },
  async (tx, { scope, reservedPeriod, period, reservedBytes, storedBytes, count }) => {
    const settled = { ...scope, period: reservedPeriod, count };
    await Promise.all([
      tx.run(moveBytes, { ...scope, stored: storedBytes, reserved: -reservedBytes }),
      ...(period === reservedPeriod
        ? [tx.run(settleInThisMonth, settled)]
        : [
            tx.run(settleInEarlierMonth, settled),
            tx.run(noteStorage, { ...scope, period, bandwidthBytes: 0 }),
          ]),
    ]);
  },
);

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

const deleteFiles = "Delete files you no longer need, or move to a larger tier.";
/** The sandbox is the same on every tier. */
const deleteTestFiles = "Delete test files you no longer need.";
const waitForMonth = "Wait for the next month, or move to a larger tier.";

function quotaReached(which: string, suggestion: string): AppError {
  return new AppError("TIER_LIMIT_EXCEEDED", `The ${which} quota of this project is reached.`, {
    suggestion,
  });
}
