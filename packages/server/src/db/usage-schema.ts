import type { Environment } from "@upstow/contract";

export interface UsageTotalRow {
  project_id: string;
  environment: Environment;
  stored_bytes: number;
  reserved_bytes: number;
}

/** On PostgreSQL only: what is added to the other two. One alone may be negative. */
export interface UsageShareRow {
  project_id: string;
  environment: Environment;
  period: string;
  share: number;
  stored_bytes: number;
  reserved_bytes: number;
  uploads: number;
  reserved_uploads: number;
}

export interface UsagePeriodRow {
  project_id: string;
  environment: Environment;
  period: string;
  uploads: number;
  reserved_uploads: number;
  bandwidth_bytes: number;
  transform_units: number;
  /** The storage total after the period's last change. */
  stored_bytes: number;
}
