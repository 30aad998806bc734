export type FileStatus = "UPLOADING" | "UPLOADED" | "FAILED" | "DELETED";

/** Who may read a file at its URL: everybody, or nobody without a link or a grant. */
export type Access = "public" | "private";

/** Any JSON object of at most 16 KiB, nested at most 10 deep. */
export type Metadata = Record<string, unknown>;

export interface FileListItem {
  id: string;
  /** `<project>/<route>/<id>/<name>`. Every call for a file accepts the key or the id. */
  key: string;
  name: string;
  /** Bytes. */
  size: number;
  type: string;
  url: string;
  status: FileStatus;
  access: Access;
  /** Only where the file has one. */
  audience?: string;
  /** Hex; null if the store never saw the bytes in one piece. */
  sha256: string | null;
  createdAt: string;
  /** With `include: "metadata"`. */
  metadata?: Metadata;
}

export interface CompletedFile extends FileListItem {
  metadata: Metadata;
}

export interface FileObject extends CompletedFile {
  updatedAt: string;
}

export interface PageQuery {
  /** 1 to 100. Default: 50. */
  limit?: number;
  cursor?: string;
}

/** Filters combine. A filtered page can be short or empty even if more pages follow. */
export interface FileQuery extends PageQuery {
  status?: FileStatus;
  /** `type/subtype` or `type/*`; case and parameters are ignored. */
  type?: string;
  routeSlug?: string;
  /** Substring of the name, case-insensitive. */
  name?: string;
  /** Prefix of the key, after the project id and its slash. */
  prefix?: string;
  /** ISO 8601 with a time zone; files created at this time or later. */
  since?: string;
  /** Files created before this time. */
  until?: string;
  /** Up to 5 top-level keys and their values; values other than strings compare as JSON text. */
  metadata?: Record<string, string | number | boolean | null>;
  access?: Access;
  /** Adds metadata to every file in the list. */
  include?: "metadata";
}

export interface UpdateFileBody {
  /** Replaces all metadata. */
  metadata?: Metadata;
  /** Display name, also used for downloads. The key and the URL do not change. */
  name?: string;
  /** Takes effect with the next read. */
  access?: Access;
  /** Groups files for grants and revocation; null removes it. */
  audience?: string | null;
}

/** One page and the cursor of the next. */
export type Page<Key extends string, Item> = { [K in Key]: Item[] } & {
  nextCursor: string | null;
  hasMore: boolean;
};

export interface BulkDeleteResult {
  deleted: number;
  failed: number;
  failures: { key: string; code: string; message: string }[];
  reclaimedBytes: number;
}
