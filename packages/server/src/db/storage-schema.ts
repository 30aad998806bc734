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
