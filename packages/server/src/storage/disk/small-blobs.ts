import type { Queryable } from "../../db/database.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import { isRowName } from "./blob-name.ts";
import { BlobDamaged } from "./damage.ts";

/**
 * Up to this size a blob is a row, made durable by the commit that records it: one fsync for all that arrive together,
 * while each file needs two.
 */
export const largestRowBytes = 32 * 1024;

const insertStatement = statement((q, p: { blob: string; bytes: Uint8Array }) =>
  q.insertInto("disk_small_blob").values({ blob: p.blob, bytes: p.bytes }),
);

const findStatement = statement((q, p: { blob: string }) =>
  q.selectFrom("disk_small_blob").select("bytes").where("blob", "=", p.blob),
);

const listStatement = statement((q, p: { blobsJson: string }, dialect) =>
  q
    .selectFrom("disk_small_blob")
    .select(["blob", "bytes"])
    .where(isOneOf(dialect, "blob", p.blobsJson)),
);

const deleteStatement = statement((q, p: { blob: string }) =>
  q.deleteFrom("disk_small_blob").where("blob", "=", p.blob),
);

export const insertSmallBlob = (tx: Queryable, blob: string, bytes: Uint8Array): Promise<number> =>
  tx.run(insertStatement, { blob, bytes });

export async function findSmallBlob(db: Queryable, blob: string): Promise<Buffer | null> {
  const row = await db.get(findStatement, { blob });
  return row && bytesOf(row);
}

/** By name; those that are lost are missing. */
export async function readSmallBlobs(db: Queryable, blobs: string[]): Promise<Map<string, Buffer>> {
  const rows = await db.all(listStatement, { blobsJson: JSON.stringify(blobs) });
  return new Map(rows.map((row) => [row.blob, bytesOf(row)]));
}

function bytesOf({ bytes }: { bytes: Uint8Array }): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Throws `BlobDamaged` if the row is lost; the caller verifies the bytes. */
export async function getSmallBlob(db: Queryable, blob: string): Promise<Buffer> {
  const bytes = await findSmallBlob(db, blob);
  if (bytes === null) throw new BlobDamaged(blob, "missing");
  return bytes;
}

/** Deletes the blobs that are rows, and returns the files left to remove. */
export async function deleteRows(tx: Queryable, blobs: string[]): Promise<string[]> {
  for (const blob of blobs) if (isRowName(blob)) await tx.run(deleteStatement, { blob });
  return blobs.filter((blob) => !isRowName(blob));
}
