import { PARTS_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import type { Queryable } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import type { SealedBlob } from "./object-records.ts";

export interface UploadRow {
  key: string;
  state: "open" | "final" | "gone";
  size_bytes: number;
  etag: string | null;
}

export interface PartRow {
  part_number: number;
  blob: string;
  size_bytes: number;
  sha256: string;
  damaged: number;
  received_at: number;
}

export interface Segment {
  blob: string;
  sizeBytes: number;
  sha256: string;
  startByte: number;
}

/** Also replaces an upload without parts: its creator crashed before recording the id. */
const openUploadStatement = statement((q, p: { key: string; uploadId: string; sizeBytes: number }) =>
  q
    .insertInto("disk_object")
    .values({ key: p.key, state: "open", upload_id: p.uploadId, size_bytes: p.sizeBytes, damaged: 0 })
    .onConflict((conflict) =>
      conflict
        .column("key")
        .doUpdateSet({ upload_id: p.uploadId, size_bytes: p.sizeBytes })
        .where("disk_object.state", "=", "open")
        .where("disk_object.upload_id", "is not", null)
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom("disk_part")
                .select("part_number")
                .whereRef("disk_part.upload_id", "=", "disk_object.upload_id"),
            ),
          ),
        ),
    ),
);

const findUploadStatement = statement((q, p: { uploadId: string }) =>
  q
    .selectFrom("disk_object")
    .select(["key", "state", "size_bytes", "etag"])
    .where("upload_id", "=", p.uploadId),
);

/** Every change to an upload or its parts takes this lock first. The embedded engine has one writer. */
const lockUploadStatement = statement((q, p: { uploadId: string }, dialect) =>
  q
    .selectFrom("disk_object")
    .select(["key", "state", "size_bytes", "etag"])
    .where("upload_id", "=", p.uploadId)
    .$if(dialect === "postgres", (select) => select.forUpdate()),
);

const weighPartsStatement = statement((q, p: { uploadId: string; partNumber: number }) => {
  const isThisPart = sql`part_number = cast(${p.partNumber} as bigint)`;
  return q
    .selectFrom("disk_part")
    .select([
      sql<number>`cast(coalesce(sum(case when ${isThisPart} then 0 else size_bytes end), 0) as bigint)`.as(
        "others",
      ),
      sql<string | null>`max(case when ${isThisPart} then blob end)`.as("replaced"),
    ])
    .where("upload_id", "=", p.uploadId);
});

const keepPartStatement = statement(
  (q, p: Omit<SealedBlob, "rowBytes"> & { uploadId: string; partNumber: number; now: number }) =>
    q
      .insertInto("disk_part")
      .values({
        upload_id: p.uploadId,
        part_number: p.partNumber,
        blob: p.blob,
        size_bytes: p.sizeBytes,
        sha256: p.sha256,
        damaged: 0,
        received_at: p.now,
      })
      .onConflict((conflict) =>
        conflict.columns(["upload_id", "part_number"]).doUpdateSet({
          blob: sql<string>`excluded.blob`,
          size_bytes: sql<number>`excluded.size_bytes`,
          sha256: sql<string>`excluded.sha256`,
          damaged: 0,
          received_at: sql<number>`excluded.received_at`,
        }),
      ),
);

const listPartsStatement = statement((q, p: { uploadId: string }) =>
  q
    .selectFrom("disk_part")
    .select(["part_number", "blob", "size_bytes", "sha256", "damaged", "received_at"])
    .where("upload_id", "=", p.uploadId)
    .orderBy("part_number")
    .limit(PARTS_MAX),
);

const lastPartStatement = statement((q, p: { uploadId: string }) =>
  q
    .selectFrom("disk_part")
    .select(["part_number", "blob", "size_bytes", "sha256"])
    .where("upload_id", "=", p.uploadId)
    .orderBy("part_number", "desc")
    .limit(1),
);

const sumPartsStatement = statement((q, p: { uploadId: string }) =>
  q
    .selectFrom("disk_part")
    .select([
      sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`.as("size_bytes"),
      sql<number | null>`max(received_at)`.as("received_at"),
    ])
    .where("upload_id", "=", p.uploadId)
    .where("damaged", "=", 0),
);

const joinPartsStatement = statement((q, p: { from: string; into: string; after: number }) =>
  q
    .updateTable("disk_part")
    .set({ upload_id: p.into, part_number: sql`part_number + cast(${p.after} as bigint)` })
    .where("upload_id", "=", p.from),
);

// bounded: an upload has at most 10,000 parts
const deletePartsOfKeyStatement = statement((q, p: { key: string }) =>
  q
    .deleteFrom("disk_part")
    .where("upload_id", "in", (select) =>
      select.selectFrom("disk_object").select("upload_id").where("key", "=", p.key),
    )
    .returning("blob"),
);

/** One statement for any number of parts: completing 10 GB must not take 2,048 round trips. */
const placePartsStatement = statement((q, p: { uploadId: string }) =>
  q
    .updateTable("disk_part")
    .from((from) =>
      from
        .selectFrom("disk_part")
        .select([
          "part_number",
          sql<number>`cast(sum(size_bytes) over (order by part_number) - size_bytes as bigint)`.as(
            "start_byte",
          ),
        ])
        .where("upload_id", "=", p.uploadId)
        .as("placed"),
    )
    .set({ start_byte: sql<number>`placed.start_byte` })
    .where("disk_part.upload_id", "=", p.uploadId)
    .whereRef("disk_part.part_number", "=", "placed.part_number"),
);

const finishUploadStatement = statement(
  (q, p: { uploadId: string; etag: string; sizeBytes: number; now: number }) =>
    q
      .updateTable("disk_object")
      .set({ state: "final", etag: p.etag, size_bytes: p.sizeBytes, received_at: p.now })
      .where("upload_id", "=", p.uploadId),
);

const listSegmentsStatement = statement((q, p: { uploadId: string; start: number; end: number }) =>
  q
    .selectFrom("disk_part")
    .select(["blob", "size_bytes as sizeBytes", "sha256", "start_byte as startByte"])
    .where("upload_id", "=", p.uploadId)
    .where("size_bytes", ">", 0)
    .where("start_byte", "<=", p.end)
    .where(sql<boolean>`start_byte + size_bytes > cast(${p.start} as bigint)`)
    .orderBy("part_number")
    .limit(PARTS_MAX),
);

export async function openUpload(
  db: Queryable,
  upload: { key: string; uploadId: string; sizeBytes: number },
): Promise<void> {
  if ((await db.run(openUploadStatement, upload)) === 0)
    throw new Error("an upload with this key was already started or ended");
}

export const findMultipart = (db: Queryable, uploadId: string): Promise<UploadRow | null> =>
  db.get(findUploadStatement, { uploadId });

export const lockUpload = (tx: Queryable, uploadId: string): Promise<UploadRow | null> =>
  tx.get(lockUploadStatement, { uploadId });

/** The bytes of all other received parts, and the current blob of this part. */
export async function weighParts(db: Queryable, part: { uploadId: string; partNumber: number }) {
  const row = await db.get(weighPartsStatement, part);
  return { othersBytes: row?.others ?? 0, replaced: row?.replaced ?? null };
}

export const keepPart = (
  tx: Queryable,
  part: SealedBlob & { uploadId: string; partNumber: number; now: number },
) => tx.run(keepPartStatement, part);

/** Moves all parts of one upload behind the last part of another. */
export const joinParts = (tx: Queryable, parts: { from: string; into: string; after: number }) =>
  tx.run(joinPartsStatement, parts);

/** Ascending. */
export const listPartRows = (db: Queryable, uploadId: string): Promise<PartRow[]> =>
  db.all(listPartsStatement, { uploadId });

export const findLastPart = (db: Queryable, uploadId: string) => db.get(lastPartStatement, { uploadId });

export async function sumParts(
  db: Queryable,
  uploadId: string,
): Promise<{ sizeBytes: number; receivedAt: number } | null> {
  const sum = await db.get(sumPartsStatement, { uploadId });
  return sum === null || sum.received_at === null
    ? null
    : { sizeBytes: sum.size_bytes, receivedAt: sum.received_at };
}

export async function deletePartsOfKey(tx: Queryable, key: string): Promise<string[]> {
  return (await tx.all(deletePartsOfKeyStatement, { key })).map((row) => row.blob);
}

export async function finishUploadRow(
  tx: Queryable,
  upload: { uploadId: string; etag: string; sizeBytes: number; now: number },
): Promise<void> {
  await tx.run(placePartsStatement, { uploadId: upload.uploadId });
  await tx.run(finishUploadStatement, upload);
}

/** The parts of a completed object that contain any of the bytes `start` to `end`. */
export async function listSegments(
  db: Queryable,
  range: { uploadId: string; start: number; end: number },
): Promise<Segment[]> {
  const rows = await db.all(listSegmentsStatement, range);
  return rows.map((row) => ({ ...row, startByte: row.startByte ?? 0 }));
}
