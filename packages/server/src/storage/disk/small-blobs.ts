import type { Queryable } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { isRowName } from "./blob-name.ts";
import { BlobDamaged } from "./damage.ts";

/**
 * Up to here a blob is a row, durable by the commit that records it: one fsync for all that arrive together, where
 * a file needs two of its own.
 */
export const largestRowBytes = 16 * 1024;

const insertStatement = statement((q, p: { blob: string; bytes: Uint8Array }) =>
  q.insertInto("disk_small_blob").values({ blob: p.blob, bytes: p.bytes }),
);

const findStatement = statement((q, p: { blob: string }) =>
  q.selectFrom("disk_small_blob").select("bytes").where("blob", "=", p.blob),
);

const deleteStatement = statement((q, p: { blob: string }) =>
  q.deleteFrom("disk_small_blob").where("blob", "=", p.blob),
);

export const insertSmallBlob = (tx: Queryable, blob: string, bytes: Uint8Array): Promise<number> =>
  tx.run(insertStatement, { blob, bytes });

export async function findSmallBlob(db: Queryable, blob: string): Promise<Buffer | null> {
  const row = await db.get(findStatement, { blob });
  return row && Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength);
}

/** Throws `BlobDamaged` where the row is lost; whether its bytes are sound is for the caller to see. */
export async function getSmallBlob(db: Queryable, blob: string): Promise<Buffer> {
  const bytes = await findSmallBlob(db, blob);
  if (bytes === null) throw new BlobDamaged(blob, "missing");
  return bytes;
}

/** Deletes those of the blobs that are rows, and returns the files that are left to be removed. */
export async function deleteRows(tx: Queryable, blobs: string[]): Promise<string[]> {
  for (const blob of blobs) if (isRowName(blob)) await tx.run(deleteStatement, { blob });
  return blobs.filter((blob) => !isRowName(blob));
}
