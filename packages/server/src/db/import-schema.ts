import type { ImportFailureReason } from "@upstow/contract";

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
