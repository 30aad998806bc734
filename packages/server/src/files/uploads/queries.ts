import type { Environment } from "@upstow/contract";
import { insertTogether } from "../../db/insert-together.ts";
import type { FileRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { notEnded } from "../life.ts";

export interface FileScope {
  id: string;
  projectId: string;
  environment: Environment;
}

/** A new file is open. Columns that only its completion sets are left out. */
export const { insertOne: insertFile, insert: addFile } = insertTogether<FileRow>("file", [
  "id",
  "key",
  "project_id",
  "environment",
  "route_slug",
  "name",
  "size_bytes",
  "type",
  "status",
  "metadata",
  "store",
  "upload_id",
  "reserved_period",
  "reap_at",
  "created_at",
  "updated_at",
  "access",
  "audience",
  "stored_apart",
  "links_revoked_at",
  "expires_at",
]);

export const findOpenUpload = statement((q, p: FileScope) =>
  q
    .selectFrom("file")
    .selectAll()
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "=", "UPLOADING"),
);

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

/** The condition is the guard: of all callers that try to end an open upload, one gets the row. */
export const markUploaded = statement((q, p: MarkUploaded) =>
  q
    .updateTable("file")
    .set({
      status: "UPLOADED",
      size_bytes: p.sizeBytes,
      sha256: p.sha256,
      etag: p.etag,
      metadata: p.metadata,
      detected_type: p.detectedType,
      reserved_period: null,
      updated_at: p.now,
      completed_at: p.now,
      claim_by: p.claimBy,
      facts_due_at: p.factsDueAt,
      scan: p.scan,
      scan_due_at: p.scanDueAt,
    })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING")
    .where("route_slug", "=", p.routeSlug)
    .where("metadata", "=", p.metadataBefore)
    .where(notEnded(p.now)),
);

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
