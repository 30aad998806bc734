import type { AuditAction, AuditTarget } from "@upstow/contract";
import type { AuditRow } from "../../db/account-schema.ts";
import type { Queryable } from "../../db/database.ts";
import { insertTogether } from "../../db/insert-together.ts";
import type { Author } from "../../kernel/actor.ts";
import { createId } from "../../kernel/ids.ts";

/**
 * The fields that may be recorded, by their names in rows and in the trail. Everything else in a row is left out, so a
 * new column with a secret never ends up here. Of a hidden field, only the fact that it changed is recorded.
 */
const recordedFields: Record<AuditTarget, Record<string, string>> = {
  account: {
    email: "email",
    tier: "tier",
    rate_upload: "rateUpload",
    rate_transform: "rateTransform",
    rate_other: "rateOther",
    transform_units: "transformUnits",
    email_verified: "emailVerified",
    may_own_projects: "mayOwnProjects",
    password_hash: "password",
    passkeys: "passkeys",
  },
  session: { method: "method" },
  passkey: { name: "name" },
  project: {
    name: "name",
    slug: "slug",
    cdn_url: "domain",
    trash_days: "trashDays",
    deletedFiles: "deletedFiles",
    image_widths: "imageWidths",
    image_qualities: "imageQualities",
    image_presets: "imagePresets",
  },
  key: { name: "name", type: "type", prefix: "prefix" },
  route: {
    slug: "slug",
    allowed_types: "allowedTypes",
    max_file_size_bytes: "maxFileSize",
    webhook_url: "webhookUrl",
    environment: "environment",
    access: "access",
    expire_after_days: "expireAfterDays",
    claim_within_sec: "claimWithin",
    keep_location: "keepLocation",
    check_content: "checkContent",
    strip_metadata: "stripMetadata",
    scan: "scan",
    scan_unknown: "scanUnknown",
    form_origins: "formOrigins",
  },
  deliveries: { ids: "ids", filter: "filter" },
  environment: {
    audience: "audience",
    all: "all",
    kind: "kind",
    value: "value",
    subject: "subject",
    expiresAt: "expiresAt",
  },
  files: {
    ids: "ids",
    status: "status",
    purge: "purge",
    access: "access",
    name: "name",
    metadata: "metadata",
    audience: "audience",
    expires_at: "expiresAt",
    claim_by: "claimBy",
    focus: "focus",
    expiresAt: "expiresAt",
    maxUses: "maxUses",
  },
  bucket: {
    endpoint: "endpoint",
    region: "region",
    bucket: "bucket",
    prefix: "prefix",
    force_path_style: "forcePathStyle",
    sealed: "credentials",
  },
  invitation: { email: "email", role: "role" },
  member: { role: "role" },
  installation: { state: "state", target: "target", count: "count" },
};

/**
 * Secrets, and what people wrote: names and metadata of files have to go away with the files, long before the trail
 * does.
 */
const hiddenFields: Partial<Record<AuditTarget, readonly string[]>> = {
  account: ["password_hash"],
  bucket: ["sealed"],
  files: ["name", "metadata", "audience"],
};

const valueMax = 500;
const listMax = 100;
const changesMaxBytes = 8_192;
const userAgentMax = 300;
const nameMax = 300;

export interface Change {
  action: AuditAction;
  target: { kind: AuditTarget; id: string; label?: string | null };
  /** The project or account whose owners see it; neither for the installation. */
  projectId?: string;
  accountId?: string;
  /** Rows or parts of them. Fields that are equal in both are left out. */
  before?: object;
  after?: object;
}

const { insert: insertRecord } = insertTogether<AuditRow>("audit", {
  id: "text",
  project_id: "text",
  account_id: "text",
  author_kind: "text",
  author_id: "text",
  author_name: "text",
  address: "text",
  user_agent: "text",
  action: "text",
  target_kind: "text",
  target_id: "text",
  target_label: "text",
  changes: "text",
  created_at: "bigint",
});

/** Part of the transaction that makes the change: neither is there without the other. */
export async function record(tx: Queryable, now: number, author: Author, change: Change): Promise<void> {
  const { target } = change;
  await insertRecord(tx, {
    id: createId(now),
    project_id: change.projectId ?? null,
    account_id: change.accountId ?? null,
    author_kind: author.kind,
    author_id: author.id,
    author_name: author.name.slice(0, nameMax),
    address: author.address,
    user_agent: author.userAgent.slice(0, userAgentMax),
    action: change.action,
    target_kind: target.kind,
    target_id: target.id,
    target_label: target.label?.slice(0, nameMax) ?? null,
    changes: describeChanges(target.kind, change.before, change.after),
    created_at: now,
  });
}

/** For what applications do all day with their keys, which the project's log has: only others are recorded. */
export async function recordUnlessKey(
  tx: Queryable,
  now: number,
  author: Author,
  change: Change,
): Promise<void> {
  if (author.kind !== "key") await record(tx, now, author, change);
}

type Row = Record<string, unknown>;

export function describeChanges(kind: AuditTarget, before: object = {}, after: object = {}): string {
  const [old, fresh] = [before as Row, after as Row];
  const changes: Record<string, { from?: unknown; to?: unknown }> = {};
  for (const [field, name] of Object.entries(recordedFields[kind])) {
    const [from, to] = [old[field] ?? null, fresh[field] ?? null];
    if (JSON.stringify(from) === JSON.stringify(to)) continue;
    const isHidden = hiddenFields[kind]?.includes(field);
    changes[name] = isHidden
      ? {}
      : { ...(from !== null && { from: shorten(from) }), ...(to !== null && { to: shorten(to) }) };
  }
  const text = JSON.stringify(changes);
  return Buffer.byteLength(text) <= changesMaxBytes
    ? text
    : JSON.stringify(Object.fromEntries(Object.keys(changes).map((name) => [name, {}])));
}

/** URLs lose what may be a credential. */
function shorten(value: unknown): unknown {
  if (Array.isArray(value) && value.length > listMax) return [...value.slice(0, listMax), "…"];
  if (typeof value !== "string") return value;
  const url = /^https?:/.test(value) ? URL.parse(value) : null;
  const text = url === null ? value : `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
  return text.length > valueMax ? `${text.slice(0, valueMax)}…` : text;
}
