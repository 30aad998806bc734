import type { AuditAction, AuditTarget, AuthorKind, Environment } from "@upstow/contract";

export interface DashboardSessionRow {
  id: string;
  token_hash: string;
  account_id: string;
  user_agent: string;
  address: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
}

export type ProjectRole = "owner" | "developer" | "viewer";

/** Members of a project; the account that owns the project has no row. */
export interface ProjectMemberRow {
  project_id: string;
  account_id: string;
  role: ProjectRole;
  created_at: number;
}

export interface TotpRow {
  account_id: string;
  secret_sealed: string;
  /** Null until the first code was entered; only then does it protect the account. */
  confirmed_at: number | null;
  /** The time step of the last accepted code; no code is accepted twice. */
  last_step: number;
  /** Consecutive wrong codes; each makes the next wait longer. */
  failures: number;
  next_try_at: number;
}

export interface PasskeyRow {
  id: string;
  account_id: string;
  credential_id: string;
  public_key: string;
  sign_count: number;
  name: string;
  created_at: number;
  last_used_at: number | null;
}

/** State between two requests of a sign-in: a password awaiting its code, or an issued challenge. */
export interface SignInStepRow {
  token_hash: string;
  kind: "code" | "passkey" | "new-passkey";
  account_id: string | null;
  challenge: string;
  expires_at: number;
}

export interface InvitationRow {
  id: string;
  token_hash: string;
  project_id: string;
  email: string;
  role: ProjectRole;
  invited_by: string;
  created_at: number;
  expires_at: number;
}

/** Who made a change, and from where. */
export interface AuditRow {
  id: string;
  project_id: string | null;
  account_id: string | null;
  author_kind: AuthorKind;
  author_id: string | null;
  author_name: string;
  address: string | null;
  user_agent: string;
  action: AuditAction;
  target_kind: AuditTarget;
  target_id: string;
  target_label: string | null;
  /** `{ field: { from, to } }` as JSON. */
  changes: string;
  created_at: number;
}

export interface UsageTotalRow {
  project_id: string;
  environment: Environment;
  stored_bytes: number;
  reserved_bytes: number;
}

/** On PostgreSQL only: what is added to the other two. One alone may be negative. */
export interface UsageShareRow {
  project_id: string;
  environment: Environment;
  period: string;
  share: number;
  stored_bytes: number;
  reserved_bytes: number;
  uploads: number;
  reserved_uploads: number;
}

export interface UsagePeriodRow {
  project_id: string;
  environment: Environment;
  period: string;
  uploads: number;
  reserved_uploads: number;
  bandwidth_bytes: number;
  transform_units: number;
  /** The storage total after the period's last change. */
  stored_bytes: number;
}
