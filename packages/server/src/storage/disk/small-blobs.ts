import { sql } from "#kysely";
import type { Queryable } from "../../db/database.ts";
import { gather } from "../../db/lanes.ts";
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

const insertManyStatement = statement((q, p: { rows: string; bytes: Uint8Array }) =>
  q
    .insertInto("disk_small_blob")
    .columns(["blob", "bytes"])
    .expression(
      sql`select blob, substring(cast(${p.bytes} as bytea) from start for size)
      from json_to_recordset(cast(cast(${p.rows} as text) as json)) as small (blob text, start int, size int)`,
    ),
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

interface SmallBlob {
  blob: string;
  bytes: Uint8Array;
}

/** Those that share a transaction go to a server with one statement, one after another in a single value. */
const insertGathered = gather<SmallBlob[]>(
  (blobs, more) => {
    blobs.push(...more);
  },
  async (tx, blobs) => {
    const [first] = blobs;
    if (blobs.length === 1 && first !== undefined) return void (await tx.run(insertStatement, first));
    let start = 1;
    const rows = blobs.map(({ blob, bytes: { byteLength: size } }) => {
      const row = { blob, start, size };
      start += size;
      return row;
    });
    const bytes = Buffer.concat(blobs.map((small) => small.bytes));
    await tx.run(insertManyStatement, { rows: JSON.stringify(rows), bytes });
  },
);

export function insertSmallBlob(tx: Queryable, blob: string, bytes: Uint8Array): Promise<unknown> {
  return tx.dialect === "sqlite"
    ? tx.run(insertStatement, { blob, bytes })
    : insertGathered(tx, "disk_small_blob", [{ blob, bytes }]);
}

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
