import type { Environment, FileStatus, KeyType, RouteEnvironment, TierName } from "@upstow/contract";

/** Rows as both engines return them: times are epoch milliseconds, JSON is text, flags are 0 or 1. */
export interface Schema {
  migration: { id: string; applied_at: number };
  installation: { id: 1; owner_account_id: string; secret_check: string; created_at: number };
  account: AccountTable;
  login_link: { token_hash: string; account_id: string; expires_at: number };
  project: ProjectTable;
  file_route: FileRouteTable;
  api_key: ApiKeyTable;
  rate_window: { bucket: string; started_at: number; count: number };
  idempotency: IdempotencyTable;
  usage_total: { project_id: string; environment: Environment; stored_bytes: number; reserved_bytes: number };
  usage_period: UsagePeriodTable;
  log: LogTable;
  file: FileTable;
  storage_deletion: StorageDeletionTable;
  disk_store: { id: 1; identity: string; scrubbed_up_to: string };
  disk_object: DiskObjectTable;
  disk_part: DiskPartTable;
}

export interface AccountTable {
  id: string;
  email: string;
  password_hash: string | null;
  tier: TierName;
  rate_upload: number | null;
  rate_transform: number | null;
  rate_other: number | null;
  transform_units: number | null;
  project_count: number;
  created_at: number;
  updated_at: number;
}

export interface ProjectTable {
  id: string;
  account_id: string;
  name: string;
  slug: string;
  key_count: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface FileRouteTable {
  id: string;
  project_id: string;
  slug: string;
  allowed_types: string;
  max_file_size_bytes: number | null;
  webhook_url: string | null;
  environment: RouteEnvironment;
  created_at: number;
  updated_at: number;
}

export interface ApiKeyTable {
  id: string;
  project_id: string;
  name: string;
  type: KeyType;
  hash: string;
  prefix: string;
  last_used_at: number | null;
  created_at: number;
  revoked_at: number | null;
}

export interface IdempotencyTable {
  scope: string;
  request_hash: string;
  /** Who works on it; a worker that died loses the claim when the lease runs out. */
  claim: string;
  lease_until: number;
  status: number | null;
  response: string | null;
  created_at: number;
}

export interface UsagePeriodTable {
  project_id: string;
  environment: Environment;
  period: string;
  uploads: number;
  reserved_uploads: number;
  bandwidth_bytes: number;
  transform_units: number;
  /** The storage total when the period last saw a change. */
  stored_bytes: number;
}

export interface LogTable {
  id: string;
  project_id: string;
  environment: Environment;
  type: string;
  file_id: string | null;
  key: string | null;
  message: string;
  data: string;
  created_at: number;
}

export interface FileTable {
  id: string;
  key: string;
  project_id: string;
  environment: Environment;
  route_slug: string;
  name: string;
  size_bytes: number;
  type: string;
  status: FileStatus;
  metadata: string;
  sha256: string | null;
  etag: string | null;
  store: string;
  /** Null for a single upload. */
  upload_id: string | null;
  /** Bytes and period reserved for an open upload; released or settled when it ends. */
  reserved_period: string;
  url_expires_at: number;
  created_at: number;
  updated_at: number;
}

/** Bytes that no row needs any more; kept until the store has confirmed. */
export interface StorageDeletionTable {
  id: string;
  store: string;
  key: string;
  upload_id: string | null;
  run_at: number;
  attempts: number;
}

export interface DiskObjectTable {
  key: string;
  state: "open" | "final" | "gone";
  /** Null for a single object. */
  upload_id: string | null;
  /** Of the blob, or declared for the whole multipart upload. */
  size_bytes: number;
  etag: string | null;
  sha256: string | null;
  /** Null where nothing has arrived, and for multipart. */
  blob: string | null;
  /** The blob that the last change took out, to be removed once that change is durable. */
  replaced_blob: string | null;
  damaged: number;
  received_at: number | null;
  gone_at: number | null;
}

export interface DiskPartTable {
  upload_id: string;
  part_number: number;
  blob: string;
  size_bytes: number;
  /** Where the part begins in the finished object; null until then. */
  start_byte: number | null;
  sha256: string;
  damaged: number;
  received_at: number;
}
