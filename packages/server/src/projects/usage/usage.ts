import { sandboxStorageBytes, TIERS, type Usage, type UsageRecord } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { unlessReadOnly } from "../../http/read-only/read-only-error.ts";
import type { Actor } from "../../kernel/actor.ts";
import { periodOf, periodsBack } from "./period.ts";
import { findUsagePeriod, findUsageTotal, listUsagePeriods } from "./queries.ts";

export async function getUsage(deps: Deps, actor: Actor): Promise<Usage> {
  const [usage] = await getUsageHistory(deps, actor, 1);
  if (usage === undefined) throw new Error("the current period has no record");
  const { projectId, environment } = actor;
  const total = await deps.db.get(findUsageTotal, { projectId, environment });
  const month = await deps.db.get(findUsagePeriod, { projectId, environment, period: usage.period });
  const reserved = {
    reservedUploads: month?.reserved_uploads ?? 0,
    reservedBytes: total?.reserved_bytes ?? 0,
  };
  return { usage: { ...usage, ...reserved }, limits: limitsFor(actor), tier: actor.tier };
}

/** One record per month, newest first. A month in which nothing changed keeps the storage of the one before. */
export async function getUsageHistory(deps: Deps, actor: Actor, months: number): Promise<UsageRecord[]> {
  const { projectId, environment } = actor;
  await unlessReadOnly(deps.bandwidth.flush());
  const current = periodOf(deps.now());
  const total = await deps.db.get(findUsageTotal, { projectId, environment });
  const rows = await deps.db.all(listUsagePeriods, { projectId, environment, until: current });
  return periodsBack(current, months).map((period) => {
    const row = rows.find((candidate) => candidate.period === period);
    const carried = rows.find((candidate) => candidate.period <= period)?.stored_bytes ?? 0;
    return {
      period,
      storageBytes: period === current ? (total?.stored_bytes ?? 0) : carried,
      uploads: row?.uploads ?? 0,
      bandwidthBytes: row?.bandwidth_bytes ?? 0,
      transformUnits: row?.transform_units ?? 0,
    };
  });
}

function limitsFor(actor: Actor): Usage["limits"] {
  const tier = TIERS[actor.tier];
  const isTest = actor.environment === "test";
  return {
    storageBytes: isTest ? sandboxStorageBytes(actor.tier) : tier.storageBytes,
    uploads: isTest ? null : tier.uploadsPerMonth,
    bandwidthBytes: isTest ? null : tier.bandwidthBytesPerMonth,
    transformUnits: isTest ? null : transformUnitsFor(actor),
    maxFileSize: tier.maxFileSizeBytes,
    projects: tier.projects,
    keys: tier.keysPerProject,
  };
}

export function transformUnitsFor(actor: Actor): number {
  const own = actor.tier === "enterprise" ? actor.transformUnits : null;
  return own ?? TIERS[actor.tier].transformUnitsPerMonth;
}
