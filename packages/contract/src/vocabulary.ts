export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** An API key's type is the environment it works in. */
export type KeyType = Environment;

export const ROUTE_ENVIRONMENTS = ["all", ...ENVIRONMENTS] as const;
export type RouteEnvironment = (typeof ROUTE_ENVIRONMENTS)[number];

export const FILE_STATUSES = ["UPLOADING", "UPLOADED", "FAILED", "DELETED"] as const;
export type FileStatus = (typeof FILE_STATUSES)[number];

/** Who may read a file at its permanent address: everybody, or nobody without a link or a grant. */
export const ACCESS_LEVELS = ["public", "private"] as const;
export type Access = (typeof ACCESS_LEVELS)[number];

export const LOG_TYPES = [
  "upload.requested",
  "upload.completed",
  "upload.failed",
  "upload.aborted",
  "file.updated",
  "file.deleted",
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
