import type { AuditAction, AuditTarget, AuthorKind } from "@upstow/contract";

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
