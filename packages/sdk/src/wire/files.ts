export type FileStatus = "UPLOADING" | "UPLOADED" | "FAILED" | "DELETED";

/** Who may read a file at its URL: everyone, or only holders of a link or grant. */
/** Whether a file was scanned for viruses. */
export type ScanState = "pending" | "clean" | "infected" | "unscanned";

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
  /** MIME type by the bytes; null if unknown, and where the route's `checkContent` is off. */
  detectedType: string | null;
  /**
   * `pending`: not readable yet. `infected`: deleted. `unscanned`: too large for the scanner. Null if the file's route does
   * not scan.
   */
  scan: ScanState | null;
  /** Only where the file has one. */
  audience?: string;
  /** From then on the file is deleted; null if it stays. */
  expiresAt: string | null;
  /** From then on the file is deleted unless it is claimed; null if it needs no claim. */
  claimBy: string | null;
  /** Hex; null if the store never saw the bytes in one piece. */
  sha256: string | null;
  createdAt: string;
  /** With `include: "metadata"`. */
  metadata?: Metadata;
  /** With `include: "image"`. */
  image?: ImageFacts | null;
}

/** Facts about an image. */
export interface ImageFacts {
  /** Pixels, as seen upright. */
  width: number;
  height: number;
  /** As in EXIF, 1 to 8. */
  orientation: number;
  /** More than 1 if it is animated. */
  frames: number;
  hasAlpha: boolean;
  /** `#rrggbb` */
  dominantColor: string;
  /** ThumbHash, a placeholder of about 25 bytes, in Base64. */
  thumbhash: string;
  /** Of a video, in seconds. */
  duration?: number;
  /** Local time of the camera, with its offset if it was recorded. */
  takenAt?: string;
  /** Maker and model. */
  camera?: string;
  /** Only if the file's route has `keepLocation`. */
  location?: { latitude: number; longitude: number };
}

export interface CompletedFile extends Omit<FileListItem, "image"> {
  metadata: Metadata;
}

export interface FileObject extends CompletedFile {
  updatedAt: string;
  /** The point of an image that gravity `focus` keeps in view; only where the file has one. */
  focus?: FocusPoint;
  /** While the file is imported from a URL. */
  progress?: ImportProgress;
  /** Why its import failed. */
  failure?: { reason: ImportFailureReason; message: string };
  /** Null until the image has been read, shortly after its upload, and for files that are not readable images. */
  image: ImageFacts | null;
}

export interface ImportProgress {
  /** Stored so far. */
  receivedBytes: number;
  /** Null until the source has said it. */
  totalBytes: number | null;
}

export type ImportFailureReason =
  | "address_refused"
  | "unreachable"
  | "redirect"
  | "status"
  | "encoded"
  | "invalid_response"
  | "type_refused"
  | "too_large"
  | "quota"
  | "incomplete"
  | "changed"
  | "too_slow"
  | "timeout"
  | "storage";

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
  /** Adds metadata, or what is known of images, to every file in the list. */
  include?: "metadata" | "image" | "metadata,image" | "image,metadata";
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
  /** Seconds from this call until the file is deleted; instead of `expiresAt`. */
  expiresIn?: number;
  /** When the file is deleted: ISO 8601 with a time zone; null keeps the file. */
  expiresAt?: string | null;
  /** The point of an image that gravity `focus` keeps in view; null removes it. */
  focus?: FocusPoint | null;
}

/** From the left and the top, 0 to 1, as the image is seen upright. */
export interface FocusPoint {
  x: number;
  y: number;
}

/** One page and the cursor of the next. */
export type Page<Key extends string, Item> = { [K in Key]: Item[] } & {
  nextCursor: string | null;
  hasMore: boolean;
};

interface BulkResult {
  /** The number of failures. */
  failed: number;
  failures: { key: string; code: string; message: string }[];
}

export interface BulkDeleteResult extends BulkResult {
  deleted: number;
  /** Storage freed; nothing for files that went to the trash. */
  reclaimedBytes: number;
}

export interface ClaimedFiles extends BulkResult {
  claimed: number;
}

export interface RestoredFiles extends BulkResult {
  restored: number;
}
