import { type Environment, sandboxStorageBytes, TIERS, type TierName } from "@upstow/contract";

export interface QuotaLimits {
  storageBytes: number;
  uploads: number;
  /** For all projects of the account together; null where nothing has to be added up. */
  account: { storageBytes: number; uploads: number } | null;
}

export const unlimited = Number.MAX_SAFE_INTEGER;

/**
 * What blocks an upload. A single upload is held up only on the free tier, a multipart one wherever the tier
 * names a figure; the sandbox has its own cap. Elsewhere the overage is counted and allowed.
 */
export function quotaLimits(environment: Environment, tier: TierName, isMultipart: boolean): QuotaLimits {
  const { storageBytes, uploadsPerMonth, projects } = TIERS[tier];
  if (environment === "test") return withCeiling(sandboxStorageBytes(tier), null, projects);
  if (tier !== "free" && !isMultipart) return withCeiling(null, null, null);
  return withCeiling(storageBytes, uploadsPerMonth, projects);
}

/** An account gets what its projects would get if it had as many as it may: deleting and creating wins nothing. */
function withCeiling(
  storageBytes: number | null,
  uploads: number | null,
  projects: number | null,
): QuotaLimits {
  const times = (limit: number | null) => (limit === null ? unlimited : limit * (projects ?? 1));
  const isLimited = projects !== null && (storageBytes !== null || uploads !== null);
  return {
    storageBytes: storageBytes ?? unlimited,
    uploads: uploads ?? unlimited,
    account: isLimited ? { storageBytes: times(storageBytes), uploads: times(uploads) } : null,
  };
}
