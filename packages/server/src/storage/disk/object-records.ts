import { type QueryCreator, sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { doEachTogether, gather } from "../../db/lanes.ts";
import { packRows } from "../../db/packed-rows.ts";
import type { Schema } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { MultipartRef, StoredObject } from "../object-store.ts";
import { keyOfObject } from "../storage-key.ts";
import { deletePartsOfKey, sumParts } from "./part-records.ts";
import { deleteRows, insertSmallBlob } from "./small-blobs.ts";

/** A sealed blob and what is known about its bytes. */
export interface SealedBlob {
  blob: string;
  sizeBytes: number;
  sha256: string;
  /** The bytes of a small blob, which becomes durable with its record; null for a file, which already is. */
  rowBytes: Buffer | null;
}

export interface FinalObject extends StoredObject {
  /** Null for multipart, whose bytes are in the parts of `uploadId`. */
  blob: string | null;
  uploadId: string | null;
}

const findStateStatement = statement((q, p: { key: string }) =>
  q.selectFrom("disk_object").select(["state", "upload_id"]).where("key", "=", p.key),
);

interface Keep {
  key: string;
  blob: string;
  sizeBytes: number;
  etag: string;
  sha256: string;
  now: number;
}

const insertObject = (q: QueryCreator<Schema>, p: Keep, state: "open" | "final") =>
  q.insertInto("disk_object").values({
    key: p.key,
    state,
    upload_id: null,
    size_bytes: p.sizeBytes,
    etag: p.etag,
    sha256: p.sha256,
    blob: p.blob,
    replaced_blob: null,
    damaged: 0,
    received_at: p.now,
    gone_at: null,
  });

const takeOver = {
  state: sql<"open" | "final">`excluded.state`,
  upload_id: null,
  size_bytes: sql<number>`excluded.size_bytes`,
  etag: sql<string>`excluded.etag`,
  sha256: sql<string>`excluded.sha256`,
  blob: sql<string>`excluded.blob`,
  replaced_blob: sql<string | null>`disk_object.blob`,
  damaged: 0,
  received_at: sql<number>`excluded.received_at`,
  gone_at: null,
};

const keepFirstStatement = statement((q, p: Keep) =>
  insertObject(q, p, "open").onConflict((conflict) => conflict.column("key").doNothing()),
);

type KeepTogether = Keep & { id: string };

const kept = packRows<KeepTogether>({
  id: "text",
  sizeBytes: "bigint",
  etag: "text",
  sha256: "text",
  blob: "text",
  now: "bigint",
});

const keepAllStatement = statement((q, p: { rows: string }) =>
  q
    .insertInto("disk_object")
    .columns(["key", "state", "size_bytes", "etag", "sha256", "blob", "damaged", "received_at"])
    .expression(
      sql`select id, 'open', "sizeBytes", etag, sha256, blob, 0, now
        from (${kept.unpack(p.rows)}) as kept`,
    )
    .onConflict((conflict) => conflict.column("key").doNothing())
    .returning("key as id"),
);

/** Callers that share a transaction keep theirs together. */
const keepFirstTogether = doEachTogether<KeepTogether, { id: string }>((tx, rows) =>
  tx.all(keepAllStatement, { rows: kept.pack(rows) }),
);

/** False if there was something under this key. */
async function keepFirst(tx: Queryable, keep: Keep): Promise<boolean> {
  return tx.dialect === "sqlite"
    ? (await tx.run(keepFirstStatement, keep)) === 1
    : (await keepFirstTogether(tx, "disk_object", { ...keep, id: keep.key })) !== null;
}

/** The condition is the lock against a late PUT: only an object that is still open changes its bytes. */
const replaceStagedStatement = statement((q, p: Keep) =>
  insertObject(q, p, "open")
    .onConflict((conflict) =>
      conflict
        .column("key")
        .doUpdateSet(takeOver)
        .where("disk_object.state", "=", "open")
        .where("disk_object.upload_id", "is", null),
    )
    .returning("replaced_blob"),
);

const keepFinalStatement = statement((q, p: Keep) =>
  insertObject(q, p, "final")
    .onConflict((conflict) => conflict.column("key").doUpdateSet(takeOver))
    .returning("replaced_blob"),
);

/** Not `is null`: until its first ANALYZE, PostgreSQL reads all single objects by the index of `upload_id` for it. */
const hasNoParts = sql<boolean>`coalesce(upload_id, '') = ''`;

const finishStatement = statement((q, p: { key: string }) =>
  q
    .updateTable("disk_object")
    .set({ state: "final" })
    .where("key", "=", p.key)
    .where("state", "in", ["open", "final"])
    .where(hasNoParts)
    .where("damaged", "=", 0)
    .where("blob", "is not", null),
);

const findFinalStatement = statement((q, p: { key: string }) =>
  q
    .selectFrom("disk_object")
    .select(["size_bytes", "etag", "sha256", "blob", "upload_id"])
    .where("key", "=", p.key)
    .where("state", "=", "final")
    .where("damaged", "=", 0),
);

const finishAllStatement = statement((q, p: { keys: string }) =>
  q
    .updateTable("disk_object")
    .set({ state: "final" })
    .where(isOneOf("postgres", "key", p.keys))
    .where("state", "in", ["open", "final"])
    .where(hasNoParts)
    .where("damaged", "=", 0)
    .where("blob", "is not", null)
    .returning(["key", "size_bytes", "etag", "sha256"]),
);

/** Callers that share a transaction finish together. */
const finishTogether = gather<string[], Map<string, StoredObject>>(
  (keys, more) => {
    keys.push(...more);
  },
  async (tx, keys) => {
    const rows = await tx.all(finishAllStatement, { keys: JSON.stringify(keys) });
    return new Map(rows.map((row) => [row.key, toStored(row)]));
  },
);

/** An upload in parts that has arrived as one blob becomes a single object. */
const finishWholeStatement = statement((q, p: Keep & { uploadId: string }) =>
  q
    .updateTable("disk_object")
    .set({
      state: "final",
      upload_id: null,
      size_bytes: p.sizeBytes,
      etag: p.etag,
      sha256: p.sha256,
      blob: p.blob,
      received_at: p.now,
    })
    .where("key", "=", p.key)
    .where("state", "=", "open")
    .where("upload_id", "=", p.uploadId),
);

const findArrivalStatement = statement((q, p: { key: string }) =>
  q
    .selectFrom("disk_object")
    .select(["upload_id", "size_bytes", "received_at"])
    .where("key", "=", p.key)
    .where("state", "<>", "gone")
    .where("damaged", "=", 0),
);

const buryStatement = statement((q, p: { key: string; now: number }) =>
  q
    .insertInto("disk_object")
    .values({ key: p.key, state: "gone", size_bytes: 0, damaged: 0, gone_at: p.now })
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet({
        state: "gone",
        blob: null,
        replaced_blob: sql<string | null>`disk_object.blob`,
        damaged: 0,
        gone_at: sql<number>`excluded.gone_at`,
      }),
    )
    .returning("replaced_blob"),
);

/** Only a tombstone can be in the way: keys are unique.  */
const clearTombstone = statement((q, p: { key: string }) =>
  q.deleteFrom("disk_object").where("key", "=", p.key).where("state", "=", "gone"),
);

const renameStatement = statement((q, p: { fromKey: string; toKey: string }) =>
  q
    .updateTable("disk_object")
    .set({ key: p.toKey })
    .where("key", "=", p.fromKey)
    .where("state", "=", "final"),
);

/** PUTs to one project share transactions. The embedded database commits all that arrive together anyway. */
function laneOf(db: Database, key: string): string | undefined {
  if (db.dialect === "sqlite") return undefined;
  const [project] = keyOfObject(key).split("/", 1);
  return `staged ${project}`;
}

export function etagOf(sha256: string): string {
  return sha256.slice(0, 32);
}

/** Whether a PUT to this key could still be kept. The record decides; this only avoids reading a body in vain. */
export async function isOpenForPut(db: Queryable, key: string): Promise<boolean> {
  const row = await db.get(findStateStatement, { key });
  return row === null || (row.state === "open" && row.upload_id === null);
}

/** Stores the blob as the staged bytes of its key. Null if the upload has ended; otherwise the replaced files. */
export function keepStaged(
  db: Database,
  key: string,
  sealed: SealedBlob,
  now: number,
): Promise<string[] | null> {
  return db.transact(
    async (tx) => {
      const keep = toKeep(key, sealed, now);
      // Sent together; the bytes are in vain only if the upload has ended.
      const [first] = await Promise.all([
        keepFirst(tx, keep),
        sealed.rowBytes === null ? null : insertSmallBlob(tx, sealed.blob, sealed.rowBytes),
      ]);
      if (first) return [];
      const kept = await tx.get(replaceStagedStatement, keep);
      if (kept !== null) return deleteRows(tx, blobsOf(kept));
      if (sealed.rowBytes !== null) await deleteRows(tx, [sealed.blob]);
      return null;
    },
    laneOf(db, key),
  );
}

/** Stores the blob as the final bytes of its key, whatever was there. Returns the replaced files. */
export async function keepFinal(
  tx: Queryable,
  key: string,
  sealed: SealedBlob,
  now: number,
): Promise<string[]> {
  const parts = await deletePartsOfKey(tx, key);
  const kept = await tx.all(keepFinalStatement, toKeep(key, sealed, now));
  if (sealed.rowBytes !== null) await insertSmallBlob(tx, sealed.blob, sealed.rowBytes);
  return [...parts, ...(await deleteRows(tx, kept.flatMap(blobsOf)))];
}

/** Finalises an upload in parts with a blob that has all of its bytes. Null if it has ended. */
export async function finishWhole(
  tx: Queryable,
  { key, uploadId }: MultipartRef,
  sealed: SealedBlob,
  now: number,
): Promise<StoredObject | null> {
  const keep = toKeep(key, sealed, now);
  const [changed] = await Promise.all([
    tx.run(finishWholeStatement, { ...keep, uploadId }),
    sealed.rowBytes === null ? null : insertSmallBlob(tx, sealed.blob, sealed.rowBytes),
  ]);
  return changed === 0 ? null : { sizeBytes: keep.sizeBytes, etag: keep.etag, sha256: keep.sha256 };
}

export async function finishObject(tx: Queryable, key: string): Promise<StoredObject | null> {
  if (tx.dialect === "postgres") return (await finishTogether(tx, "disk_object", [key])).get(key) ?? null;
  // RETURNING costs SQLite more than a second query.
  if ((await tx.run(finishStatement, { key })) === 0) return null;
  return findStored(tx, key);
}

export async function findStored(tx: Queryable, key: string): Promise<StoredObject | null> {
  const row = await tx.get(findFinalStatement, { key });
  return row && toStored(row);
}

export async function findFinal(db: Database, key: string): Promise<FinalObject | null> {
  const row = await db.recall(findFinalStatement, { key });
  return row && { ...toStored(row), blob: row.blob, uploadId: row.upload_id };
}

/** The bytes received for a key, staged or final. */
export async function findArrival(
  db: Queryable,
  key: string,
): Promise<{ sizeBytes: number; receivedAt: number } | null> {
  const row = await db.get(findArrivalStatement, { key });
  if (row === null) return null;
  if (row.upload_id !== null) return sumParts(db, row.upload_id);
  return { sizeBytes: row.size_bytes, receivedAt: row.received_at ?? 0 };
}

/** Leaves a tombstone, so that earlier URLs stay rejected. Returns the files that are no longer referenced. */
export async function buryObject(tx: Queryable, key: string, now: number): Promise<string[]> {
  const buried = await tx.all(buryStatement, { key, now });
  // The tombstone comes first, to block a part that is just being recorded.
  const parts = await deletePartsOfKey(tx, key);
  return [...(await deleteRows(tx, buried.flatMap(blobsOf))), ...parts];
}

/** Renames a final object, and leaves a tombstone so that URLs signed for the old key are still rejected. */
export async function renameObject(
  tx: Queryable,
  { fromKey, toKey, now }: { fromKey: string; toKey: string; now: number },
): Promise<boolean> {
  await tx.run(clearTombstone, { key: toKey });
  if ((await tx.run(renameStatement, { fromKey, toKey })) === 0) return false;
  await tx.all(buryStatement, { key: fromKey, now });
  return true;
}

function toKeep(key: string, { blob, sizeBytes, sha256 }: SealedBlob, now: number): Keep {
  return { key, blob, sizeBytes, sha256, etag: etagOf(sha256), now };
}

function blobsOf(row: { replaced_blob: string | null }): string[] {
  return row.replaced_blob === null ? [] : [row.replaced_blob];
}

function toStored(row: { size_bytes: number; etag: string | null; sha256: string | null }): StoredObject {
  return { sizeBytes: row.size_bytes, etag: row.etag ?? "", sha256: row.sha256 };
}
