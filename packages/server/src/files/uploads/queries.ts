import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { insertTogether } from "../../db/insert-together.ts";
import { doEachTogether, findEachTogether } from "../../db/lanes.ts";
import { packRows } from "../../db/packed-rows.ts";
import type { FileRow } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import { notEnded } from "../life.ts";

export interface FileScope {
  id: string;
  projectId: string;
  environment: Environment;
}

/** Uploads to one environment of a project change the same counters, and number their events by the same row. */
export function laneOf(file: Pick<FileRow, "project_id" | "environment">): string {
  return `${file.project_id} ${file.environment}`;
}

/** A new file is open. Columns that only its completion sets are left out. */
export const { insertOne: insertFile, insert: addFile } = insertTogether<FileRow>("file", {
  id: "text",
  key: "text",
  project_id: "text",
  environment: "text",
  route_slug: "text",
  name: "text",
  size_bytes: "bigint",
  type: "text",
  status: "text",
  metadata: "text",
  store: "text",
  upload_id: "text",
  reserved_period: "text",
  reap_at: "bigint",
  created_at: "bigint",
  updated_at: "bigint",
  access: "text",
  audience: "text",
  stored_apart: "bigint",
  links_revoked_at: "bigint",
  expires_at: "bigint",
});

const findOpen = statement((q, p: FileScope) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "=", "UPLOADING"),
);

const listOpen = statement((q, p: Omit<FileScope, "id"> & { ids: string }) =>
  q
    .selectFrom("file")
    .selectAll()
    .where(isOneOf("postgres", "id", p.ids))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "=", "UPLOADING"),
);

const findOpenTogether = findEachTogether<FileScope, FileRow>((db, scopes) => {
  const { projectId = "", environment = "live" } = scopes[0] ?? {};
  return db.all(listOpen, { projectId, environment, ids: JSON.stringify(scopes.map(({ id }) => id)) });
});

/** On a server, what a statement costs is more than a row, so calls of one moment look up theirs together. */
export function findOpenUpload(db: Database, scope: FileScope): Promise<FileRow | null> {
  return db.dialect === "sqlite"
    ? db.get(findOpen, scope)
    : findOpenTogether(db, `${scope.projectId} ${scope.environment}`, scope);
}

/** In any status. */
export const findUpload = statement((q, p: FileScope) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

interface MarkUploaded {
  id: string;
  /** The value that was read: if the route was renamed since, the file moved along with it. */
  routeSlug: string;
  sizeBytes: number;
  sha256: string | null;
  etag: string;
  metadata: string;
  /** The value the completion read: a later change was acknowledged and must not be lost. */
  metadataBefore: string;
  claimBy: number | null;
  detectedType: string | null;
  factsDueAt: 0 | null;
  scan: "pending" | null;
  scanDueAt: 0 | null;
  now: number;
}

/** By column: what a completion changes. */
const marks = {
  size_bytes: "sizeBytes",
  sha256: "sha256",
  etag: "etag",
  metadata: "metadata",
  detected_type: "detectedType",
  updated_at: "now",
  completed_at: "now",
  claim_by: "claimBy",
  facts_due_at: "factsDueAt",
  scan: "scan",
  scan_due_at: "scanDueAt",
} as const;

const markOne = statement((q, p: MarkUploaded) =>
  q
    .updateTable("file")
    .set(Object.fromEntries(Object.entries(marks).map(([column, name]) => [column, p[name]])))
    .set({ status: "UPLOADED", reserved_period: null })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING")
    .where("route_slug", "=", p.routeSlug)
    .where("metadata", "=", p.metadataBefore)
    .where(notEnded(p.now)),
);

const done = packRows<MarkUploaded>({
  id: "text",
  routeSlug: "text",
  sizeBytes: "bigint",
  sha256: "text",
  etag: "text",
  metadata: "text",
  metadataBefore: "text",
  claimBy: "bigint",
  detectedType: "text",
  factsDueAt: "bigint",
  scan: "text",
  scanDueAt: "bigint",
  now: "bigint",
});

const markAll = statement((q, p: { ids: string; completions: string }) =>
  q
    .updateTable("file")
    .from(sql<MarkUploaded>`(${done.unpack(p.completions)})`.as("done"))
    .set(Object.fromEntries(Object.entries(marks).map(([column, name]) => [column, sql.ref(`done.${name}`)])))
    .set({ status: "UPLOADED", reserved_period: null })
    .where(isOneOf("postgres", "file.id", p.ids))
    .whereRef("file.id", "=", "done.id")
    .where("file.status", "=", "UPLOADING")
    .whereRef("file.route_slug", "=", "done.routeSlug")
    .whereRef("file.metadata", "=", "done.metadataBefore")
    .where(notEnded(sql`done.now`))
    .returning("file.id"),
);

const markTogether = doEachTogether<MarkUploaded, { id: string }>((tx, completions) =>
  tx.all(markAll, {
    ids: JSON.stringify(completions.map(({ id }) => id)),
    completions: done.pack(completions),
  }),
);

/**
 * The condition is the guard: of all callers that try to end an open upload, one gets the row. Callers that share a
 * transaction end theirs together.
 */
export async function markUploaded(tx: Queryable, completion: MarkUploaded): Promise<boolean> {
  return tx.dialect === "sqlite"
    ? (await tx.run(markOne, completion)) === 1
    : (await markTogether(tx, "file", completion)) !== null;
}

/** Of all that try to end an open upload, one gets the row. */
export const markRefused = statement((q, p: { id: string; detectedType: string | null; now: number }) =>
  q
    .updateTable("file")
    .set({ status: "FAILED", detected_type: p.detectedType, reserved_period: null, updated_at: p.now })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING"),
);

/** The pending record is deleted together with its upload. */
export const removeOpenMultipart = statement((q, p: FileScope & { uploadId: string }) =>
  q
    .deleteFrom("file")
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("upload_id", "=", p.uploadId)
    .where("status", "=", "UPLOADING")
    .returningAll(),
);

export const postponeReaping = statement((q, p: { id: string; reapAt: number }) =>
  q
    .updateTable("file")
    .set({ reap_at: p.reapAt })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING")
    .where("reap_at", "<", p.reapAt),
);

export const listAbandoned = statement((q, p: { now: number; take: number }) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("status", "=", "UPLOADING")
    .where("reap_at", "<=", p.now)
    .orderBy("reap_at")
    .limit(p.take),
);

/** Also guarded by the time, so that a client that returned in the meantime keeps its upload. */
export const markFailed = statement((q, p: { id: string; now: number }) =>
  q
    .updateTable("file")
    .set({ status: "FAILED", reserved_period: null, updated_at: p.now })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING")
    .where("reap_at", "<=", p.now),
);
