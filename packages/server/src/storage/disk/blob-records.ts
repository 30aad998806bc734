import { sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { rowMark } from "./blob-name.ts";
import { lockUpload } from "./part-records.ts";

/** A blob referenced by the database, of a single object or of a part. */
export interface BlobRow {
  blob: string;
  size_bytes: number;
  sha256: string;
  damaged: number;
}

interface Page {
  after: string;
  before: string;
  limit: number;
}

const listStatement = (which: "files" | "files and rows") =>
  statement((q, p: Page) =>
    q
      .selectFrom("disk_object")
      .select([sql<string>`blob`.as("blob"), "size_bytes", sql<string>`sha256`.as("sha256"), "damaged"])
      .where("blob", ">", p.after)
      .where("blob", "<", p.before)
      .$if(which === "files", (select) => select.where("blob", "not like", `%${rowMark}`))
      .unionAll(
        q
          .selectFrom("disk_part")
          .select(["blob", "size_bytes", "sha256", "damaged"])
          .where("blob", ">", p.after)
          .where("blob", "<", p.before),
      )
      .orderBy("blob")
      .limit(p.limit),
  );
const listFilesStatement = listStatement("files");
const listBlobsStatement = listStatement("files and rows");

const markObjectStatement = statement((q, p: { blob: string; damaged: number }) =>
  q.updateTable("disk_object").set({ damaged: p.damaged }).where("blob", "=", p.blob).returning("key"),
);

const findPartStatement = statement((q, p: { blob: string }) =>
  q.selectFrom("disk_part").select("upload_id").where("blob", "=", p.blob),
);

const markPartStatement = statement((q, p: { blob: string; damaged: number }) =>
  q.updateTable("disk_part").set({ damaged: p.damaged }).where("blob", "=", p.blob),
);

/** A completed object is damaged if any part is. While an upload is open, a damaged part may be sent again. */
const markAssembledStatement = statement((q, p: { uploadId: string }) =>
  q
    .updateTable("disk_object")
    .set({
      damaged: (set) =>
        set
          .selectFrom("disk_part")
          .select(sql<number>`max(damaged)`.as("worst"))
          .where("upload_id", "=", p.uploadId),
    })
    .where("upload_id", "=", p.uploadId)
    .where("state", "=", "final"),
);

const listGoneStatement = statement((q, p: { before: number; limit: number }) =>
  q
    .selectFrom("disk_object")
    .select("key")
    .where("state", "=", "gone")
    .where("gone_at", "<", p.before)
    .orderBy("gone_at")
    .limit(p.limit),
);

const forgetGoneStatement = statement((q, p: { key: string; before: number }) =>
  q
    .deleteFrom("disk_object")
    .where("key", "=", p.key)
    .where("state", "=", "gone")
    .where("gone_at", "<", p.before),
);

/** Blobs by name, and thus by age. */
export const listBlobs = (db: Queryable, page: Page): Promise<BlobRow[]> => db.all(listBlobsStatement, page);

/** Those that are files. */
export const listBlobFiles = (db: Queryable, page: Page): Promise<BlobRow[]> =>
  db.all(listFilesStatement, page);

/** Returns the affected key; null if nothing references the blob any more. */
export function markBlob(db: Database, blob: string, damaged: 0 | 1): Promise<string | null> {
  return db.transact(async (tx) => {
    const [single] = await tx.all(markObjectStatement, { blob, damaged });
    if (single !== undefined) return single.key;
    const part = await tx.get(findPartStatement, { blob });
    if (part === null) return null;
    const upload = await lockUpload(tx, part.upload_id);
    if (upload === null || (await tx.run(markPartStatement, { blob, damaged })) === 0) return null;
    await tx.run(markAssembledStatement, { uploadId: part.upload_id });
    return upload.key;
  });
}

export async function listGone(db: Queryable, page: { before: number; limit: number }): Promise<string[]> {
  return (await db.all(listGoneStatement, page)).map((row) => row.key);
}

export const forgetGone = (db: Queryable, tombstone: { key: string; before: number }): Promise<number> =>
  db.run(forgetGoneStatement, tombstone);
