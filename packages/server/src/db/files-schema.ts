import type { Access, Environment, ImportFailureReason } from "@upstow/contract";

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
  /** Places given back because the content of their files was rejected. */
  refused_files: number;
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
  /** The grant of which it has taken a place. */
  grant_id: string | null;
  /** Null until the client says it. */
  length_bytes: number | null;
  /** Bytes that are durable in the store. */
  offset_bytes: number;
  /** The store's state for continuing there. */
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

/** A file that the service fetches from a URL, or has failed to. */
export interface FileImportRow {
  file_id: string;
  project_id: string;
  account_id: string;
  /** URLs often contain signatures or tokens. Empty once the import has failed. */
  url_sealed: string;
  /** 1 if the file's type is the source's. */
  guesses_type: number;
  /** The source's strong ETag, if it can send byte ranges. */
  etag: string | null;
  received_bytes: number;
  total_bytes: number | null;
  attempts: number;
  /** One of a few per account while it is fetched. */
  slot: number | null;
  /** Of the worker that fetches it. */
  token: string | null;
  /** When it is due, or when the worker's lease ends. Null once it has failed. */
  run_at: number | null;
  /** When it was first fetched. */
  started_at: number | null;
  failed_at: number | null;
  failure: ImportFailureReason | null;
  message: string | null;
}

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

export interface DiskObjectRow {
  key: string;
  state: "open" | "final" | "gone";
  /** Null for a single object. */
  upload_id: string | null;
  /** Size of the blob, or as declared for the whole multipart upload. */
  size_bytes: number;
  etag: string | null;
  sha256: string | null;
  /** Null if nothing has arrived, and for multipart. */
  blob: string | null;
  /** The blob replaced by the last change, to be removed once that change is durable. */
  replaced_blob: string | null;
  damaged: number;
  received_at: number | null;
  gone_at: number | null;
}

export interface DiskPartRow {
  upload_id: string;
  part_number: number;
  blob: string;
  size_bytes: number;
  /** The part's offset in the completed object; null until then. */
  start_byte: number | null;
  sha256: string;
  damaged: number;
  received_at: number;
}

/** `unreadable`: the disk reports an error. */
export type DamageReason = "missing" | "wrong-size" | "wrong-etag" | "wrong-checksum" | "unreadable";

/** A confirmed file whose bytes the last check of all files did not find as they should be. */
export interface FileDamageRow {
  file_id: string;
  reason: DamageReason;
  found_at: number;
}

/** An object to be moved to where the file's access requires it. */
export interface FileMoveRow {
  file_id: string;
  /** Counts access changes, so that none is lost while another is in progress. */
  version: number;
  /** The worker that owns it until `run_at`. */
  claim: string;
  run_at: number;
  attempts: number;
}

/** Bytes no longer referenced; kept until the store has confirmed their deletion, and the CDN its last purge. */
export interface StorageDeletionRow {
  id: string;
  store: string;
  key: string;
  upload_id: string | null;
  run_at: number;
  attempts: number;
  bytes_gone: number;
}
