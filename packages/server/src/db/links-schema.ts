import type { Environment } from "@upstow/contract";

/** Signs the links and grants of one environment. */
export interface ReadKeyRow {
  project_id: string;
  environment: Environment;
  current_sealed: string;
  next_sealed: string;
  /** Everything signed up to this moment is revoked. */
  revoked_at: number;
}

export interface AudienceRevocationRow {
  project_id: string;
  environment: Environment;
  audience: string;
  revoked_at: number;
}

/** A link with a limited number of uses. */
export interface CountedLinkRow {
  id: string;
  file_id: string;
  max_uses: number;
  uses: number;
  created_at: number;
  expires_at: number;
}
