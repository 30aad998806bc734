import { GB, MB, TB } from "./units.ts";

export const TIER_NAMES = ["free", "pro", "team", "enterprise"] as const;
export type TierName = (typeof TIER_NAMES)[number];

/** Null means unlimited. Quotas count per project; the tier belongs to the account. */
export interface Tier {
  maxFileSizeBytes: number;
  storageBytes: number | null;
  uploadsPerMonth: number | null;
  /** Reported, never blocked. */
  bandwidthBytesPerMonth: number | null;
  transformUnitsPerMonth: number;
  projects: number | null;
  keysPerProject: number | null;
}

export const TIERS: Readonly<Record<TierName, Tier>> = {
  free: {
    maxFileSizeBytes: 4 * MB,
    storageBytes: 5 * GB,
    uploadsPerMonth: 1_000,
    bandwidthBytesPerMonth: 2 * GB,
    transformUnitsPerMonth: 0,
    projects: 2,
    keysPerProject: 2,
  },
  pro: {
    maxFileSizeBytes: 512 * MB,
    storageBytes: 100 * GB,
    uploadsPerMonth: 50_000,
    bandwidthBytesPerMonth: 200 * GB,
    transformUnitsPerMonth: 5_000,
    projects: 10,
    keysPerProject: 10,
  },
  team: {
    maxFileSizeBytes: 5 * GB,
    storageBytes: TB,
    uploadsPerMonth: 500_000,
    bandwidthBytesPerMonth: 2 * TB,
    transformUnitsPerMonth: 25_000,
    projects: 50,
    keysPerProject: 50,
  },
  enterprise: {
    maxFileSizeBytes: 10 * GB,
    storageBytes: null,
    uploadsPerMonth: null,
    bandwidthBytesPerMonth: null,
    transformUnitsPerMonth: 100_000,
    projects: null,
    keysPerProject: null,
  },
};

/** Storage of a project's test environment: room for the tier's largest file twice, and never less than 1 GB. */
export function sandboxStorageBytes(tier: TierName): number {
  return Math.max(GB, 2 * TIERS[tier].maxFileSizeBytes);
}
