export interface CreateUploadGrantBody {
  /** A file route of the project. */
  routeSlug: string;
  /** Seconds, at most 86,400; 3,600 unless given. */
  expiresIn?: number;
  /** Uploads, at most 1,000; 1 unless given. */
  maxFiles?: number;
  /** Bytes of one file; the route's limit applies as well. */
  maxFileSize?: number;
  /** A subset of the route's types; all of them unless given. */
  allowedTypes?: string[];
  /** Added to every file; wins over what the uploader sends. */
  metadata?: Record<string, unknown>;
  access?: "public" | "private";
  audience?: string;
}

export interface UploadGrant {
  /** Sent as `Authorization: Bearer upg_…` to `/tus` or `/resumable`. */
  token: string;
  expiresAt: string;
}
