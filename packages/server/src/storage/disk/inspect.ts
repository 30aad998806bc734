import { stat } from "node:fs/promises";
import { sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Inventory, ObjectStore } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { isRowName } from "./blob-name.ts";
import { type BlobRow, markBlob } from "./blob-records.ts";
import { BlobDamaged, explainDiskError, hasCode, type ReportDamage } from "./damage.ts";
import { listPartRows } from "./part-records.ts";
import { readBlob } from "./scrub.ts";
import { readSmallBlobs } from "./small-blobs.ts";
import { listStrays } from "./sweep.ts";

interface InspectDeps {
  db: Database;
  files: BlobFiles;
  report: ReportDamage;
}

const listRecords = statement((q, p: { keysJson: string }, dialect) =>
  q
    .selectFrom("disk_object")
    .select(["key", "size_bytes", "sha256", "blob", "upload_id", "damaged"])
    .where(isOneOf(dialect, "key", p.keysJson))
    .where("state", "=", "final"),
);

const measureRows = statement((q, p: { blobsJson: string }, dialect) =>
  q
    .selectFrom("disk_small_blob")
    .select(["blob", sql<number>`octet_length(bytes)`.as("sizeBytes")])
    .where(isOneOf(dialect, "blob", p.blobsJson)),
);

const listFinal = statement((q, p: { after: string; take: number }) =>
  q
    .selectFrom("disk_object")
    .select(["key", "received_at"])
    .where("state", "=", "final")
    .where("key", ">", p.after)
    .orderBy("key")
    .limit(p.take),
);

/** Damaged blobs are marked as by the scrub, and so are those that are intact again. */
export function createDiskInspect({ db, files, report }: InspectDeps): Pick<ObjectStore, "inspect"> {
  const findRecord = askTogether(async (keys) => {
    const records = await db.all(listRecords, { keysJson: JSON.stringify(keys) });
    return new Map(records.map((record) => [record.key, record]));
  });
  const findRowBytes = askTogether(async (blobs) => {
    const rows = await db.all(measureRows, { blobsJson: JSON.stringify(blobs) });
    return new Map(rows.map((row) => [row.blob, row.sizeBytes]));
  });
  const findRow = askTogether((blobs) => readSmallBlobs(db, blobs));

  async function checkSize({ blob, size_bytes: sizeBytes }: BlobRow): Promise<void> {
    if (isRowName(blob)) {
      const found = await findRowBytes(blob);
      if (found === sizeBytes) return;
      throw new BlobDamaged(blob, found === undefined ? "missing" : "wrong-size");
    }
    const found = await stat(files.pathOf(blob)).catch((error) => {
      if (hasCode(error, "ENOENT")) throw new BlobDamaged(blob, "missing", { cause: error });
      throw explainDiskError(error);
    });
    if (found.size !== sizeBytes) throw new BlobDamaged(blob, "wrong-size");
  }

  async function checkBlob(
    row: BlobRow,
    readsBytes: boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (!readsBytes && row.damaged === 0) return checkSize(row);
    await readBlob({ files, findRow }, row, signal === undefined ? {} : { signal });
    if (row.damaged === 1) await markBlob(db, row.blob, 0);
  }

  return {
    async inspect(key, { sizeBytes }, { readsBytes, signal }) {
      const record = await findRecord(key);
      if (record === undefined) return "missing";
      const blobs = await listBlobsOf(db, record);
      const storedBytes = blobs.reduce((sum, blob) => sum + blob.size_bytes, 0);
      if (record.size_bytes !== sizeBytes || storedBytes !== sizeBytes) return "wrong-size";
      try {
        for (const blob of blobs) await checkBlob(blob, readsBytes, signal);
        return null;
      } catch (error) {
        if (!(error instanceof BlobDamaged)) throw error;
        await report(error);
        return error.reason;
      }
    },
  };
}

/** One query for all that is asked in the same turn: walks ask for thousands of objects. */
function askTogether<T>(
  ask: (names: string[]) => Promise<Map<string, T>>,
): (name: string) => Promise<T | undefined> {
  let waiting: { names: string[]; answers: Promise<Map<string, T>> } | null = null;
  return async (name) => {
    if (waiting === null) {
      const names: string[] = [];
      // Runs after all calls of this turn; the next turn may be milliseconds away.
      const answers = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
        waiting = null;
        return ask(names);
      });
      waiting = { names, answers };
    }
    waiting.names.push(name);
    return (await waiting.answers).get(name);
  };
}

interface RecordRow {
  size_bytes: number;
  sha256: string | null;
  blob: string | null;
  upload_id: string | null;
  damaged: number;
}

async function listBlobsOf(db: Queryable, record: RecordRow): Promise<BlobRow[]> {
  const { blob, sha256, size_bytes, upload_id, damaged } = record;
  if (blob !== null) return [{ blob, sha256: sha256 ?? "", size_bytes, damaged }];
  return upload_id === null ? [] : listPartRows(db, upload_id);
}

const pageSize = 500;

/** First the records of final objects, then the files. */
export function createDiskInventory(deps: Pick<InspectDeps, "db" | "files">): Inventory {
  const { db, files } = deps;
  return {
    async list(cursor, before) {
      if (cursor.startsWith("shard:")) {
        const { strays, lastShard } = await listStrays(deps, cursor.slice("shard:".length), before);
        return { keys: [], strays, next: lastShard && `shard:${lastShard}` };
      }
      const rows = await db.all(listFinal, { after: cursor.slice("key:".length), take: pageSize });
      const old = rows.filter((row) => (row.received_at ?? 0) < before);
      const next = rows.length < pageSize ? "shard:" : `key:${rows.at(-1)?.key}`;
      return { keys: old.map(({ key }) => key), strays: [], next };
    },
    removeStrays: (names) => files.remove(names),
  };
}
