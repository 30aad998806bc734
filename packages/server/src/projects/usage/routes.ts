import {
  sandboxStorageBytes,
  TIERS,
  Usage,
  UsageHistory,
  UsageHistoryQuery,
  type UsageRecord,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { unlessReadOnly } from "../../http/read-only.ts";
import type { ApiApp } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { periodOf, periodsBack } from "./period.ts";
import { findUsagePeriod, findUsageTotal, listUsagePeriods } from "./queries.ts";

const tags = ["usage"];

export function usageRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/usage",
    { schema: { tags, summary: "Usage and limits of the current month", response: { 200: Usage } } },
    async ({ actor }) => getUsage(deps, actor),
  );

  app.get(
    "/usage/history",
    {
      schema: {
        tags,
        summary: "Usage by month",
        querystring: UsageHistoryQuery,
        response: { 200: UsageHistory },
      },
    },
    async ({ actor, query }) => ({ usage: await getUsageHistory(deps, actor, query.months ?? 12) }),
  );
}

async function getUsage(deps: Deps, actor: Actor): Promise<Usage> {
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

/** One record per month, newest first. A month without changes has the storage of the previous one. */
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
