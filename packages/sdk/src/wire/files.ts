export type FileStatus = "UPLOADING" | "UPLOADED" | "FAILED" | "DELETED";

/** Any JSON object of at most 16 KiB, nested at most 10 deep. */
export type Metadata = Record<string, unknown>;

export interface FileListItem {
  id: string;
  /** `<project>/<route>/<id>/<name>`; every call that names a file takes it as it is. */
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
