import type { Access, Environment } from "@upstow/contract";

/** The right to upload a number of files to one route, without an API key. */
export interface UploadGrantRow {
  id: string;
  project_id: string;
  environment: Environment;
  /** The key that created it, whose revocation ends it; null if a person did. */
  key_id: string | null;
  route_id: string;
  max_files: number;
  taken_files: number;
  max_file_size_bytes: number | null;
  /** A JSON array; null for all types of the route. */
  allowed_types: string | null;
  metadata: string;
  access: Access | null;
  audience: string | null;
  created_at: number;
  expires_at: number;
}

/** An upload that grows append by append. */
export interface ResumableUploadRow {
  file_id: string;
  /** The key behind it, whose revocation ends it; null if a person's grant is. */
  key_id: string | null;
  /** Null until the client says it. */
  length_bytes: number | null;
  /** What the store has durably. */
  offset_bytes: number;
  /** What the store needs to continue there. */
  store_state: string;
  /** How its protocol's client described it, as JSON. */
  described: string;
  /** Raised by each request that takes the upload over. */
  lease: number;
  /** When others may take it over without asking; 0 if no request has it. */
  lease_until: number;
  /** A newer request waits for the one that has the lease. */
  is_awaited: number;
  touched_at: number;
}
