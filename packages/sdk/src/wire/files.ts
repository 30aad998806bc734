export type FileStatus = "UPLOADING" | "UPLOADED" | "FAILED" | "DELETED";

/** Any JSON object of at most 16 KiB, nested at most 10 deep. */
export type Metadata = Record<string, unknown>;

export interface FileListItem {
  id: string;
  /** `<project>/<route>/<id>/<name>`; every call that names a file takes it as it is, or the id. */
  key: string;
  name: string;
  /** Bytes. */
  size: number;
  type: string;
  url: string;
  status: FileStatus;
  /** Hex; null where the store never saw the bytes in one piece. */
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
  /** 1 to 100; 50 unless given. */
  limit?: number;
  cursor?: string;
}

/** Filters combine. A filtered page can be short or empty and still have more behind it. */
export interface FileQuery extends PageQuery {
  status?: FileStatus;
  /** `type/subtype` or `type/*`; case and parameters are ignored. */
  type?: string;
  routeSlug?: string;
  /** Contained in the name, any case. */
  name?: string;
  /** Of the key, after the project id and its slash. */
  prefix?: string;
  /** ISO 8601 with a zone; createdAt from then on. */
  since?: string;
  /** createdAt before then. */
  until?: string;
  /** Top-level keys and what they equal, at most 5; what is no string compares as its JSON text. */
  metadata?: Record<string, string | number | boolean | null>;
  /** Adds metadata to every file of the list. */
  include?: "metadata";
}

export interface UpdateFileBody {
  /** Replaces all of it. */
  metadata?: Metadata;
  /** Shown, and used for downloads. The key and the URL stay. */
  name?: string;
}

/** A page and where the next one begins. */
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
