import { type QueryCreator, sql } from "#kysely";
import type { ResumableUploadRow, Schema } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

export const insertResumable = statement((q, p: ResumableUploadRow) =>
  q.insertInto("resumable_upload").values({
    file_id: p.file_id,
    key_id: p.key_id,
    grant_id: p.grant_id,
    length_bytes: p.length_bytes,
    offset_bytes: p.offset_bytes,
    store_state: p.store_state,
    described: p.described,
    lease: p.lease,
    lease_until: p.lease_until,
    is_awaited: p.is_awaited,
    touched_at: p.touched_at,
  }),
);

/** An upload with its file, and whether the key behind it was revoked. */
export const findResumable = statement((q, p: { fileId: string }) =>
  q
    .selectFrom("resumable_upload")
    .innerJoin("file", "file.id", "resumable_upload.file_id")
    .innerJoin("project", "project.id", "file.project_id")
    .leftJoin("api_key", "api_key.id", "resumable_upload.key_id")
    .where("resumable_upload.file_id", "=", p.fileId)
    .selectAll("resumable_upload")
    .selectAll("file")
    .select([
      "project.cdn_url as cdnUrl",
      "project.deleted_at as project_deleted_at",
      "api_key.revoked_at as key_revoked_at",
    ]),
);

export type ResumableUpload = NonNullable<(typeof findResumable)["types"]>["row"];

interface Held {
  fileId: string;
  lease: number;
}

/** The condition is the lock: the upload is free, or its holder is silent or, with `insteadOf`, did not respond. */
export const takeLease = statement(
  (q, p: { fileId: string; now: number; until: number; insteadOf: number }) =>
    q
      .updateTable("resumable_upload")
      .set({ lease: sql`lease + 1`, lease_until: p.until, is_awaited: 0 })
      .where("file_id", "=", p.fileId)
      .where((e) => e.or([e("lease_until", "<=", p.now), e("lease", "=", p.insteadOf)]))
      .returning(["lease", "length_bytes", "offset_bytes", "store_state"]),
);

export const askForLease = statement((q, p: { fileId: string }) =>
  q.updateTable("resumable_upload").set({ is_awaited: 1 }).where("file_id", "=", p.fileId),
);

/** One that has ended stays so. */
export const extendLease = statement((q, p: Held & { until: number }) =>
  q
    .updateTable("resumable_upload")
    .set({ lease_until: p.until })
    .where("file_id", "=", p.fileId)
    .where("lease", "=", p.lease)
    .where("lease_until", ">", 0)
    .returning("is_awaited"),
);

export const releaseLease = statement((q, p: Held) =>
  q
    .updateTable("resumable_upload")
    .set({ lease_until: 0 })
    .where("file_id", "=", p.fileId)
    .where("lease", "=", p.lease),
);

export const findLease = statement((q, p: { fileId: string }) =>
  q.selectFrom("resumable_upload").select(["lease", "lease_until"]).where("file_id", "=", p.fileId),
);

interface Saved extends Held {
  /** A new token if the request had no lease, so that a request started at the same offset fails. */
  nextLease: number;
  offset: number;
  state: string;
  now: number;
  until: number;
}

/** The condition is the guard: bytes of a request that has been taken over never count, and the offset never falls. */
export const saveProgress = statement((q, p: Saved) =>
  q
    .updateTable("resumable_upload")
    .set({
      lease: p.nextLease,
      offset_bytes: p.offset,
      store_state: p.state,
      touched_at: p.now,
      lease_until: p.until,
    })
    .where("file_id", "=", p.fileId)
    .where("lease", "=", p.lease)
    .where("offset_bytes", "<=", p.offset),
);

/** Of an upload that begins with the bytes of others. */
export const setJoined = statement((q, p: { fileId: string; offset: number; state: string }) =>
  q
    .updateTable("resumable_upload")
    .set({ offset_bytes: p.offset, store_state: p.state })
    .where("file_id", "=", p.fileId),
);

/** Once: a length that was said is never another one. */
export const setLength = statement((q, p: { fileId: string; length: number }) =>
  q
    .updateTable("resumable_upload")
    .set({ length_bytes: p.length })
    .where("file_id", "=", p.fileId)
    .where("length_bytes", "is", null)
    .where("offset_bytes", "<=", p.length),
);

export const shrinkFile = statement((q, p: { id: string; sizeBytes: number }) =>
  q
    .updateTable("file")
    .set({ size_bytes: p.sizeBytes })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING"),
);

export const findActivity = statement((q, p: { fileId: string }) =>
  q
    .selectFrom("resumable_upload")
    .select(["offset_bytes", "touched_at", "lease_until"])
    .where("file_id", "=", p.fileId),
);

export const deleteResumable = statement((q, p: { fileId: string }) =>
  q.deleteFrom("resumable_upload").where("file_id", "=", p.fileId),
);

const old = (q: QueryCreator<Schema>, before: number, take: number) =>
  q
    .selectFrom("resumable_upload")
    .select("file_id")
    .where("touched_at", "<", before)
    .orderBy("touched_at")
    .limit(take);

export const deleteOldResumables = statement((q, p: { before: number; take: number }) =>
  q.deleteFrom("resumable_upload").where("file_id", "in", old(q, p.before, p.take)),
);
