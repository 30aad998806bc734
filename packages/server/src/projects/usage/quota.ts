import type { Environment } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import { gather } from "../../db/lanes.ts";
import { periodOf } from "./period.ts";
import {
  findUsagePeriod,
  findUsageTotal,
  lockAccount,
  lockTotal,
  moveBytes,
  noteStorage,
  releaseUploads,
  reserveBytes,
  reserveFirstUploads,
  reserveMoreUploads,
  settleInEarlierMonth,
  settleInThisMonth,
  sumAccountUse,
} from "./queries.ts";
import {
  checkCeiling,
  isLimited,
  type QuotaLimits,
  storageLimit,
  storageReached,
  type Use,
  uploadsReached,
} from "./quota-limits.ts";
import { addUsage } from "./shares.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

interface Reserving extends Scope {
  accountId: string;
}

interface Places {
  scope: Reserving;
  period: string;
  limits: QuotaLimits;
  bytes: number;
  count: number;
}

/**
 * Reserves the bytes and one upload of this month, or nothing: two callers can never both get the last slot. Callers
 * that share a transaction reserve together; if that fails, so does the transaction, and each is retried on its own.
 */
export function reserveQuota(
  tx: Queryable,
  { accountId, projectId, environment }: Reserving,
  {
    bytes,
    period,
    count = 1,
  }: { bytes: number; period: string /** 0 for more bytes of an open upload. */; count?: 0 | 1 },
  limits: QuotaLimits,
): Promise<void> {
  const name = [projectId, environment, period, limits.storageBytes, limits.uploads].join(" ");
  const places = { scope: { accountId, projectId, environment }, period, limits, bytes, count };
  return takePlaces(tx, name, places);
}

const takePlaces = gather<Places>(
  (sum, more) => {
    sum.bytes += more.bytes;
    sum.count += more.count;
  },
  (tx, places) => (tx.dialect === "postgres" ? reserveInShare(tx, places) : reserveInTotal(tx, places)),
);

/**
 * Without a limit this never waits. With one, reservations take turns, and each sums up after the previous one is
 * committed; the transaction of a rejected one undoes its count.
 */
async function reserveInShare(tx: Queryable, { scope, period, limits, bytes, count }: Places): Promise<void> {
  const { account } = limits;
  const mayBeRefused = isLimited(limits, bytes);
  const change = {
    ...scope,
    period,
    storedBytes: 0,
    reservedBytes: bytes,
    uploads: 0,
    reservedUploads: count,
  };
  await Promise.all([
    account && tx.get(lockAccount, scope),
    mayBeRefused && tx.get(lockTotal, scope),
    addUsage(tx, change),
  ]);
  if (!mayBeRefused) return;
  const [use, ofAccount] = await Promise.all([
    findUse(tx, scope, period),
    account && tx.get(sumAccountUse, { ...scope, period }),
  ]);
  const before = without(use, { bytes, count });
  if (use.storedBytes + use.reservedBytes > storageLimit(limits, bytes))
    throw storageReached(scope.environment, before, limits.storageBytes);
  if (use.uploads + use.reservedUploads > limits.uploads || use.reservedUploads > limits.openUploads)
    throw uploadsReached(before, limits);
  if (account !== null && ofAccount !== null)
    checkCeiling(without(ofAccount, { bytes, count }), { bytes, count }, account);
}

async function reserveInTotal(tx: Queryable, { scope, period, limits, bytes, count }: Places): Promise<void> {
  const ofMonth = { ...scope, period, count, limit: limits.uploads, openLimit: limits.openUploads };
  const { account } = limits;
  // Sent together and run in this order. The month nearly always has a row, and updating it costs half as much as
  // an upsert.
  const [, total, places, use] = await Promise.all([
    account && tx.get(lockAccount, scope),
    tx.run(reserveBytes, { ...scope, bytes, limit: storageLimit(limits, bytes) }),
    tx.run(reserveMoreUploads, ofMonth),
    account && tx.get(sumAccountUse, { ...scope, period }),
  ]);
  if (total === 0)
    throw storageReached(scope.environment, await findUse(tx, scope, period), limits.storageBytes);
  const isFirst = places === 0;
  if (isFirst && (count > limits.uploads || (await tx.run(reserveFirstUploads, ofMonth)) === 0))
    throw uploadsReached(await findUse(tx, scope, period), limits);
  if (account === null || use === null) return;
  // A month's first reservation comes after the sum.
  checkCeiling(without(use, { bytes, count: isFirst ? 0 : count }), { bytes, count }, account);
}

function without<Counted extends Use>(use: Counted, ours: { bytes: number; count: number }): Counted {
  return {
    ...use,
    reservedBytes: use.reservedBytes - ours.bytes,
    reservedUploads: use.reservedUploads - ours.count,
  };
}

/** The project's usage, as this transaction sees it. */
async function findUse(tx: Queryable, scope: Scope, period: string): Promise<Use> {
  const total = await tx.get(findUsageTotal, scope);
  const month = await tx.get(findUsagePeriod, { ...scope, period });
  return {
    storedBytes: total?.stored_bytes ?? 0,
    reservedBytes: total?.reserved_bytes ?? 0,
    uploads: month?.uploads ?? 0,
    reservedUploads: month?.reserved_uploads ?? 0,
  };
}

interface Settlement {
  scope: Scope;
  /** The month of the reservation, and the current one. */
  reservedPeriod: string;
  period: string;
  reservedBytes: number;
  storedBytes: number;
  count: number;
}

/** Turns reservations into stored bytes; together, like the reservations. */
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
    if (tx.dialect === "postgres") {
      const bytes = { ...nothing, ...scope, period, storedBytes, reservedBytes: -reservedBytes };
      const places = { uploads: count, reservedUploads: -count };
      if (period === reservedPeriod) return addUsage(tx, { ...bytes, ...places });
      // The earlier month first, like everything that takes several shares.
      await addUsage(tx, { ...nothing, ...scope, period: reservedPeriod, ...places });
      return addUsage(tx, bytes);
    }
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
  /** The number of open uploads released per month. */
  uploadsByPeriod: Map<string, number>;
}

const nothing = { storedBytes: 0, reservedBytes: 0, uploads: 0, reservedUploads: 0 };

async function releaseInShares(
  tx: Queryable,
  period: string,
  scope: Scope,
  released: Released,
): Promise<void> {
  const { storedBytes, reservedBytes, uploadsByPeriod } = released;
  // In the order of the months, like everything that takes several shares.
  for (const month of [...new Set([...uploadsByPeriod.keys(), period])].sort()) {
    const bytes = month === period ? { storedBytes: -storedBytes, reservedBytes: -reservedBytes } : {};
    const reservedUploads = -(uploadsByPeriod.get(month) ?? 0);
    await addUsage(tx, { ...nothing, ...scope, period: month, ...bytes, reservedUploads });
  }
}

/** Releases the quota of deleted, failed or aborted files, or what a recount has found to be too much. */
export async function releaseUsage(
  tx: Queryable,
  now: number,
  scope: Scope,
  released: Released,
): Promise<void> {
  const { projectId, environment } = scope;
  if (tx.dialect === "postgres")
    return releaseInShares(tx, periodOf(now), { projectId, environment }, released);
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
  if (released.storedBytes !== 0) {
    changes.push(tx.run(noteStorage, { projectId, environment, period: periodOf(now), bandwidthBytes: 0 }));
  }
  await Promise.all(changes);
}
