/** Who makes a change: a person in the dashboard, an API key, an operator's command, or the service itself. */
export const AUTHOR_KINDS = ["user", "key", "operator", "service"] as const;
export type AuthorKind = (typeof AUTHOR_KINDS)[number];

/** What the audit trail records. */
export const AUDIT_ACTIONS = [
  "account.created",
  "account.updated",
  "account.claimed",
  "login-link.created",
  "session.created",
  "session.ended",
  "codes.enabled",
  "codes.disabled",
  "recovery-codes.created",
  "passkey.added",
  "passkey.removed",
  "project.created",
  "project.updated",
  "project.deleted",
  "project.purged",
  "key.created",
  "key.revoked",
  "route.created",
  "route.updated",
  "route.deleted",
  "webhook.tested",
  "deliveries.resent",
  "signing-keys.rotated",
  "read-keys.rotated",
  "links.created",
  "links.revoked",
  "grant.created",
  "file.updated",
  "files.deleted",
  "storage.set",
  "storage.removed",
  "domain.set",
  "domain.removed",
  "invitation.created",
  "invitation.withdrawn",
  "member.joined",
  "member.updated",
  "member.removed",
  "installation.created",
  "installation.secret-replaced",
  "installation.credentials-resealed",
  "installation.backed-up",
  "installation.repaired",
  "installation.storage-moved",
  "installation.database-moved",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** What an action was done to. */
export const AUDIT_TARGETS = [
  "account",
  "session",
  "passkey",
  "project",
  "key",
  "route",
  "deliveries",
  "environment",
  "files",
  "bucket",
  "invitation",
  "member",
  "installation",
] as const;
export type AuditTarget = (typeof AUDIT_TARGETS)[number];

/** An entry as the dashboard and the export show it. A field in `changes` without values is hidden. */
export interface AuditEntry {
  id: string;
  at: string;
  author: { kind: AuthorKind; id: string | null; name: string };
  address: string | null;
  userAgent: string;
  action: AuditAction;
  target: { kind: AuditTarget; id: string; label: string | null };
  projectId: string | null;
  accountId: string | null;
  changes: Record<string, { from?: unknown; to?: unknown }>;
}
