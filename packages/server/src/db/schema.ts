import type {
  Access,
  ContentCheck,
  DeliveryErrorClass,
  Environment,
  EventType,
  FileStatus,
  KeyType,
  RouteEnvironment,
  ScanState,
  ScanUnknown,
  StripChoice,
  TierName,
} from "@upstow/contract";
import type { Generated } from "#kysely";
import type {
  AuditRow,
  DashboardSessionRow,
  InvitationRow,
  PasskeyRow,
  ProjectMemberRow,
  SignInStepRow,
  TotpRow,
  UsagePeriodRow,
  UsageShareRow,
  UsageTotalRow,
} from "./account-schema.ts";
import type {
  AudienceRevocationRow,
  CountedLinkRow,
  DiskObjectRow,
  DiskPartRow,
  FileDamageRow,
  FileImportRow,
  FileMoveRow,
  ReadKeyRow,
  ResumableUploadRow,
  StorageDeletionRow,
  UploadGrantRow,
} from "./files-schema.ts";

export type * from "./account-schema.ts";
export type * from "./files-schema.ts";

/** Rows as both engines return them: times are epoch milliseconds, JSON is text, flags are 0 or 1. */
export interface Schema {
  migration: { id: string; applied_at: number; is_additive: Generated<number> };
  audit: AuditRow;
  installation: { id: 1; owner_account_id: string; secret_check: string; created_at: number };
  account: AccountRow;
  login_link: { token_hash: string; account_id: string; expires_at: number };
  project: ProjectRow;
  customer_store: CustomerStoreRow;
  file_route: FileRouteRow;
  api_key: ApiKeyRow;
  rate_window: { bucket: string; started_at: number; count: number };
  idempotency: IdempotencyRow;
  usage_total: UsageTotalRow;
  usage_period: UsagePeriodRow;
  usage_share: UsageShareRow;
  log: LogRow;
  file: FileRow;
  file_import: FileImportRow;
  file_move: FileMoveRow;
  file_damage: FileDamageRow;
  storage_deletion: StorageDeletionRow;
  transform_use: { project_id: string; period: string; variant: string };
  variant: VariantRow;
  public_variant_key: { id: string; sealed: string };
  disk_store: { id: 1; identity: string; scrubbed_up_to: string };
  disk_object: DiskObjectRow;
  disk_part: DiskPartRow;
  disk_small_blob: { blob: string; bytes: Uint8Array };
  read_key: ReadKeyRow;
  audience_revocation: AudienceRevocationRow;
  counted_link: CountedLinkRow;
  counted_link_use: { link_id: string; client: string; opened_at: number };
  upload_grant: UploadGrantRow;
  resumable_upload: ResumableUploadRow;
  event_sequence: { project_id: string; environment: Environment; last_seq: number };
  webhook_signing_key: WebhookSigningKeyRow;
  webhook_endpoint: WebhookEndpointRow;
  webhook_message: WebhookMessageRow;
  webhook_attempt: WebhookAttemptRow;
  console_session: DashboardSessionRow;
  project_member: ProjectMemberRow;
  totp: TotpRow;
  recovery_code: { account_id: string; code_hash: string };
  passkey: PasskeyRow;
  sign_in_step: SignInStepRow;
  invitation: InvitationRow;
  /** The month's totals at the end of the day. */
  usage_day: Omit<UsagePeriodRow, "period" | "reserved_uploads"> & { day: string };
  read_only: { reason: RelocationName; since: number };
  relocation: RelocationRow;
  relocated_object: { key: string; version: string; size_bytes: number; etag: string | null };
  relocated_table: RelocatedTableRow;
  job_lease: { name: string; token: number; held_until: number };
  maintenance_report: { name: string; started_at: number; ended_at: number; report: string };
}

export interface AccountRow {
  id: string;
  email: string;
  password_hash: string | null;
  tier: TierName;
  rate_upload: number | null;
  rate_transform: number | null;
  rate_other: number | null;
  transform_units: number | null;
  project_count: number;
  /** API keys created since `keys_made_since`, which is at most an hour ago. */
  keys_made: number;
  keys_made_since: number;
  /** 0 while the address is unverified: the service sends no email, so only the operator can verify it. */
  email_verified: number;
  /** 0 for an account created by an invitation, until the operator sets its tier. */
  may_own_projects: number;
  created_at: number;
  updated_at: number;
}

export interface ProjectRow {
  id: string;
  account_id: string;
  name: string;
  slug: string;
  key_count: number;
  route_count: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** The customer's bucket for new files; null for the installation's store. */
  store_id: string | null;
  /** Base URL of its files, without a trailing slash; null for the installation's own. */
  cdn_url: string | null;
  /** 0 once a deleted project has nothing that counts toward its account's quotas. */
  is_counted: number;
  /** How long deleted files can be restored; below 0 while the trash of a deleted project is being emptied. */
  trash_days: number;
  /** The variants that `/i/` serves, each as JSON; null for the default. */
  image_widths: string | null;
  image_qualities: string | null;
  image_presets: string | null;
}

/** A customer's own bucket. */
export interface CustomerStoreRow {
  id: string;
  project_id: string;
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  region: string;
  bucket: string;
  /** Prefix of every object's name. */
  prefix: string;
  force_path_style: number;
  /** The credentials, encrypted. */
  sealed: string;
  created_at: number;
  updated_at: number;
}

export interface FileRouteRow {
  id: string;
  project_id: string;
  slug: string;
  allowed_types: string;
  max_file_size_bytes: number | null;
  webhook_url: string | null;
  environment: RouteEnvironment;
  /** Of new uploads. */
  access: Access;
  /** When new uploads expire, unless their request says otherwise. */
  expire_after_days: number | null;
  /** How soon after its completion a file has to be claimed. */
  claim_within_sec: number | null;
  /** 1 if the place a picture was taken at is kept in its facts. */
  keep_location: number;
  check_content: ContentCheck;
  strip_metadata: StripChoice;
  /** 1 if files are scanned for viruses before anyone can read them. */
  scan: number;
  scan_unknown: ScanUnknown;
  /** JSON list. */
  form_origins: string;
  created_at: number;
  updated_at: number;
}

export interface ApiKeyRow {
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

export interface IdempotencyRow {
  scope: string;
  request_hash: string;
  /** The worker that claimed it; a worker that died loses the claim when the lease expires. */
  claim: string;
  lease_until: number;
  status: number | null;
  response: string | null;
  created_at: number;
}

export interface LogRow {
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

export interface FileRow {
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
  /** Null for a single-request upload. */
  upload_id: string | null;
  /** The month whose quota an open upload has reserved; null once settled or released. */
  reserved_period: string | null;
  /** When to check whether an open upload was abandoned. */
  reap_at: number;
  created_at: number;
  updated_at: number;
  completed_at: number | null;
  access: Access;
  /** Groups files for grants and revocation. */
  audience: string | null;
  /** 1 if the bytes are stored with those of other private files; see `objectKey`. */
  stored_apart: number;
  /** Links signed up to this moment are revoked; 0 if none were. */
  links_revoked_at: number;
  /** The store's own ETag if it is not `etag`; empty if it is unknown. */
  store_etag: string | null;
  /** From then on it is gone; null if it stays. */
  expires_at: number | null;
  /** From then on it is gone unless it was claimed, which sets this to null. */
  claim_by: number | null;
  /** Set while a deleted file is in the trash: when its bytes go. */
  purge_at: number | null;
  /** Image facts as JSON: JSON `null` if the bytes are not a readable image. SQL null until read. */
  image: string | null;
  /** When an image's facts are due: 0 for immediately, later while a worker has it; null once they are known. */
  facts_due_at: number | null;
  /** The point of an image to keep in view, as `x,y`. */
  focus: string | null;
  /** By its bytes; null if unknown or not checked. */
  detected_type: string | null;
  /** Null if its route did not ask for a scan. */
  scan: ScanState | null;
  /** While its scan is pending: when it is due, or when the lease of a running scan ends. */
  scan_due_at: number | null;
}

/** Keys are encrypted; `previous` still signs alongside `current` for a day after a rotation. */
export interface WebhookSigningKeyRow {
  project_id: string;
  environment: Environment;
  current_sealed: string;
  next_sealed: string;
  previous_sealed: string | null;
  rotated_at: number | null;
}

export interface WebhookEndpointRow {
  id: string;
  /** Maintained whenever a lease starts or ends: counting would read dead index entries of ended ones. */
  live_leases: number;
  consecutive_timeouts: number;
  /** When to check its messages next; null if none are waiting. */
  next_run_at: number | null;
  /** More was due than could be sent together; the next finished attempt frees a place. */
  has_backlog: number;
  touched_at: number;
}

/** `recorded`: there is no URL to send it to, so it is only streamed. */
export type WebhookState = "recorded" | "ready" | "leased" | "delivered" | "dead";

export interface WebhookMessageRow {
  id: string;
  project_id: string;
  environment: Environment;
  /** Numbers the environment's events in commit order. */
  seq: number;
  event: EventType;
  file_id: string;
  route_slug: string;
  /** The exact text that is sent. */
  body: string;
  url: string | null;
  endpoint_id: string | null;
  state: WebhookState;
  attempt_count: number;
  /** Below zero during an attempt means that a redelivery was requested. */
  retried: number;
  retries_allowed: number;
  /** How often a worker died while sending it; does not count as a retry. */
  interruptions: number;
  run_at: number;
  lease_until: number | null;
  lease_token: string | null;
  created_at: number;
}

/** Written before the request is sent, so that one interrupted by a crash is visible. */
export interface WebhookAttemptRow {
  message_id: string;
  number: number;
  started_at: number;
  duration_ms: number | null;
  status_code: number | null;
  error: DeliveryErrorClass | null;
  response: string | null;
}

export interface VariantRow {
  id: string;
  file_id: string;
  store: string;
  store_key: string;
  state: "rendering" | "ready" | "failed";
  claim: string;
  /** When the claim expires, or when a failure may be retried. */
  lease_until: number;
  problem: string | null;
  /** Null for variants rendered before it was recorded. */
  recipe: string | null;
  size_bytes: number | null;
  etag: string | null;
  content_type: string | null;
  ready_at: number | null;
  used_at: number;
  /** As in a file. */
  store_etag: string | null;
  /** Empty for variants rendered before it was recorded. */
  account_id: string;
}

export type RelocationName = "storage" | "database";

/** `copied`: everything is copied and verified, and the next start on the target switches. `done`: it has switched. */
export type RelocationState = "copying" | "copied" | "switching" | "done" | "abandoned";

export interface RelocationRow {
  name: RelocationName;
  /** The id of the owner's account, which identifies the installation. */
  installation: string;
  /** The bucket or database, for display and comparison; without credentials. */
  target: string;
  state: RelocationState;
  started_at: number;
  changed_at: number;
}

/** Exists in the target database. */
export interface RelocatedTableRow {
  name: string;
  /** The primary key of the last row copied, as a JSON array; empty before the first. */
  last_key: string;
  row_count: number;
  is_complete: number;
}
