export interface UsageRecord {
  /** `YYYY-MM`, UTC. */
  period: string;
  storageBytes: number;
  uploads: number;
  bandwidthBytes: number;
  transformUnits: number;
}

/** The current month. */
export interface CurrentUsage extends UsageRecord {
  /** This month's open uploads; they count toward the limit. */
  reservedUploads: number;
  /** Storage reserved by open uploads. */
  reservedBytes: number;
}

/** Null means unlimited. */
export interface UsageLimits {
  storageBytes: number | null;
  uploads: number | null;
  bandwidthBytes: number | null;
  transformUnits: number | null;
  maxFileSize: number | null;
  projects: number | null;
  keys: number | null;
}

export interface Usage {
  usage: CurrentUsage;
  limits: UsageLimits;
  tier: "free" | "pro" | "team" | "enterprise";
}

export interface Log {
  id: string;
  type: string;
  fileId?: string;
  key?: string;
  message: string;
  data: Record<string, unknown>;
  createdAt: string;
}

export interface LogQuery {
  limit?: number;
  cursor?: string;
  /** ISO 8601. */
  since?: string;
  type?: string;
}
