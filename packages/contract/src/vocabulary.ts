export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** An API key's type is the environment it works in. */
export type KeyType = Environment;

export const ROUTE_ENVIRONMENTS = ["all", ...ENVIRONMENTS] as const;
export type RouteEnvironment = (typeof ROUTE_ENVIRONMENTS)[number];

export const FILE_STATUSES = ["UPLOADING", "UPLOADED", "FAILED", "DELETED"] as const;
export type FileStatus = (typeof FILE_STATUSES)[number];

/** Who may read a file at its permanent URL: everyone, or only holders of a link or grant. */
export const ACCESS_LEVELS = ["public", "private"] as const;
export type Access = (typeof ACCESS_LEVELS)[number];

/** Why an import failed. Nothing that happens before a connection is told apart, so that none of it maps a network. */
export const IMPORT_FAILURES = [
  "address_refused",
  "unreachable",
  "redirect",
  "status",
  "encoded",
  "invalid_response",
  "type_refused",
  "too_large",
  "quota",
  "incomplete",
  "changed",
  "too_slow",
  "timeout",
  "storage",
] as const;
export type ImportFailureReason = (typeof IMPORT_FAILURES)[number];
/** What happens to bytes that don't match their declared type or their route's types. */
export const CONTENT_CHECKS = ["off", "warn", "enforce"] as const;
export type ContentCheck = (typeof CONTENT_CHECKS)[number];

/** Which metadata is taken out of pictures before they are confirmed. */
export const STRIP_CHOICES = ["off", "gps", "all"] as const;
export type StripChoice = (typeof STRIP_CHOICES)[number];

/** Whether a file was scanned for viruses. `pending` files can't be read. */
export const SCAN_STATES = ["pending", "clean", "infected", "unscanned"] as const;
export type ScanState = (typeof SCAN_STATES)[number];
/** What happens to a file that can't be scanned. */
export const SCAN_UNKNOWN_CHOICES = ["allow", "refuse"] as const;
export type ScanUnknown = (typeof SCAN_UNKNOWN_CHOICES)[number];

export const LOG_TYPES = [
  "upload.requested",
  "upload.completed",
  "upload.failed",
  "upload.aborted",
  "file.updated",
  "file.mismatch",
  "file.infected",
  "file.unscanned",
  "file.deleted",
  "file.expired",
  "file.claimed",
  "file.restored",
  "file.purged",
  "links.created",
  "links.revoked",
  "grant.created",
  "read-keys.rotated",
  "transform.created",
  "webhook.delivered",
  "webhook.failed",
  "key.created",
  "key.revoked",
  "router.created",
  "router.updated",
  "router.deleted",
  "project.created",
  "project.updated",
  "project.deleted",
  "rate.limited",
  "storage.set",
  "storage.removed",
  "member.invited",
  "member.joined",
  "member.updated",
  "member.removed",
] as const;
export type LogType = (typeof LOG_TYPES)[number];
