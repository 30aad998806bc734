import { sql } from "#kysely";
import type { Queryable } from "../db/database.ts";
import type { FileRow, StorageDeletionRow } from "../db/schema.ts";
import { isOneOf, statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { createId, firstIdAt } from "../kernel/ids.ts";
import { fileUrl } from "../projects/file-url.ts";
import { type RefusedDeletion, UnknownStore } from "../storage/object-store.ts";
import { keyOfObject, objectKey } from "../storage/storage-key.ts";
import { nameFile } from "./serialize.ts";

type DeletionDeps = Pick<Deps, "config" | "db" | "stores" | "cdn" | "now" | "log">;

const batchSize = 100;
const leaseMs = 60_000;
const longestPauseMs = 3_600_000;
/**
 * A cache that is being filled during a purge may keep the file. So the purge is repeated when most such responses have
 * ended, and again when those of large files have.
 */
const purgeAgainAfterMs = [60_000, 3_600_000];

const insertDeletion = statement((q, p: StorageDeletionRow) =>
  q.insertInto("storage_deletion").values({
    id: p.id,
    store: p.store,
    key: p.key,
    upload_id: p.upload_id,
    run_at: p.run_at,
    attempts: p.attempts,
    bytes_gone: p.bytes_gone,
  }),
);

/** The outer condition is rechecked under the row's lock, so two instances never claim the same one. */
const claimDue = statement((q, p: { now: number; leaseUntil: number }) =>
  q
    .updateTable("storage_deletion")
    .set({ run_at: p.leaseUntil, attempts: sql`attempts + 1` })
    .where("run_at", "<=", p.now)
    .where("id", "in", (inner) =>
      inner
        .selectFrom("storage_deletion")
        .select("id")
        .where("run_at", "<=", p.now)
        .orderBy("run_at")
        .limit(batchSize),
    )
    .returningAll(),
);

/** Each claim counts an attempt, so a worker that was too slow and lost its claim changes nothing. */
const postpone = statement((q, p: { id: string; attempts: number; runAt: number; bytesGone: number }) =>
  q
    .updateTable("storage_deletion")
    .set({ run_at: p.runAt, bytes_gone: p.bytesGone })
    .where("id", "=", p.id)
    .where("attempts", "=", p.attempts),
);

/** Only files that were once confirmed; the others cannot have been cached. */
const listServedOnce = statement((q, p: { idsJson: string; keysJson: string }, dialect) =>
  q
    .selectFrom("file")
    .innerJoin("project", "project.id", "file.project_id")
    .select(["file.id", "file.key", "project.cdn_url as cdnUrl"])
    .where(isOneOf(dialect, "file.id", p.idsJson))
    .where(isOneOf(dialect, "file.key", p.keysJson))
    .where("file.completed_at", "is not", null),
);

const forget = statement((q, p: { id: string }) => q.deleteFrom("storage_deletion").where("id", "=", p.id));

/**
 * Part of the transaction that ends a file: once committed, the bytes will be deleted, whatever crashes. The caller
 * passes the result to `removeBytes` after the commit; if that does not happen, the queue takes over.
 */
export function scheduleFileDeletion(
  tx: Queryable,
  now: number,
  file: Pick<FileRow, "store" | "key" | "stored_apart" | "upload_id">,
): Promise<StorageDeletionRow> {
  return scheduleDeletion(tx, now, { ...file, key: objectKey(file) });
}

/** Like `scheduleFileDeletion`, for other objects, such as variants. */
export async function scheduleDeletion(
  tx: Queryable,
  now: number,
  object: { store: string; key: string; upload_id: string | null },
): Promise<StorageDeletionRow> {
  const { store, key, upload_id } = object;
  return enqueue(tx, now, { store, key, upload_id, bytes_gone: 0 });
}

/** Like `scheduleFileDeletion`, for a file that is kept: only shared caches are purged. */
export async function schedulePurge(
  tx: Queryable,
  now: number,
  { store, key }: { store: string; key: string },
): Promise<StorageDeletionRow> {
  return enqueue(tx, now, { store, key, upload_id: null, bytes_gone: 1 });
}

async function enqueue(
  tx: Queryable,
  now: number,
  object: Pick<StorageDeletionRow, "store" | "key" | "upload_id" | "bytes_gone">,
): Promise<StorageDeletionRow> {
  const deletion = { id: createId(now), ...object, run_at: now + leaseMs, attempts: 1 };
  await tx.run(insertDeletion, deletion);
  return deletion;
}

/** Runs before the response is sent, so that an upload URL stops working with its upload; a failure can wait. */
export async function removeBytes(deps: DeletionDeps, deletions: StorageDeletionRow[]): Promise<void> {
  if (deletions.length === 0) return;
  try {
    await deleteBatch(deps, deletions);
  } catch (error) {
    deps.log.warn({ err: error, objects: deletions.length }, "deleted bytes are left to the queue");
  }
}

/** Removes what is due; failures are retried with growing delays until they succeed. */
export async function runDeletions(deps: DeletionDeps): Promise<void> {
  for (;;) {
    const now = deps.now();
    const due = await deps.db.change(claimDue, { now, leaseUntil: now + leaseMs });
    if (due.length === 0) return;
    await deleteBatch(deps, due);
    if (due.length < batchSize) return;
  }
}

/** Each store separately, so that an unavailable customer bucket does not block the others. */
async function deleteBatch(deps: DeletionDeps, due: StorageDeletionRow[]): Promise<void> {
  const byStore = Map.groupBy(due, (row) => row.store);
  await Promise.all([...byStore].map(([store, rows]) => deleteIn(deps, store, rows)));
}

async function deleteIn(deps: DeletionDeps, storeName: string, due: StorageDeletionRow[]): Promise<void> {
  const waiting = due.filter((row) => row.bytes_gone === 0);
  const kept = waiting.length === 0 ? new Set() : await deleteFromStore(deps, storeName, waiting);
  const now = deps.now();
  const purged = await purgeFromCdn(deps, due);
  const pauseOf = (row: StorageDeletionRow): number | null => {
    if (kept.has(row.key) || purged === null) return pauseAfter(row.attempts);
    return purged.has(keyOfObject(row.key)) ? pauseBeforePurge(row, now) : null;
  };
  await deps.db.transact(async (tx) => {
    await Promise.all(
      due.map((row) => {
        const { id, attempts } = row;
        const pauseMs = pauseOf(row);
        if (pauseMs === null) return tx.run(forget, { id });
        const bytesGone = kept.has(row.key) ? 0 : 1;
        return tx.run(postpone, { id, attempts, runAt: now + pauseMs, bytesGone });
      }),
    );
  });
}

/** Null if a purge at this time was late enough to be the last. */
function pauseBeforePurge({ id }: StorageDeletionRow, now: number): number | null {
  return purgeAgainAfterMs.find((afterMs) => id >= firstIdAt(now - afterMs)) ?? null;
}

/** The keys whose bytes still exist. An object that the store refuses to delete does not block others. */
async function deleteFromStore(
  deps: DeletionDeps,
  storeName: string,
  due: StorageDeletionRow[],
): Promise<Set<string>> {
  const keys = due.map((row) => row.key);
  const refused: RefusedDeletion[] = [];
  try {
    const store = await deps.stores.get(storeName);
    const abort = async ({ key, upload_id }: StorageDeletionRow) => {
      if (upload_id === null) return;
      await store
        .abortMultipart({ key, uploadId: upload_id })
        .catch((error: Error) => void refused.push({ key, error }));
    };
    await Promise.all(due.map(abort));
    refused.push(...(await store.delete(keys)));
  } catch (error) {
    if (error instanceof UnknownStore) return new Set();
    refused.push(...keys.map((key) => ({ key, error: error as Error })));
  }
  const kept = new Set(refused.map(({ key }) => key));
  const [first] = refused;
  if (first !== undefined)
    deps.log.warn(
      { err: first.error, objects: kept.size },
      "the store did not delete all objects; will retry",
    );
  return kept;
}

/**
 * The keys that the CDN may have had, or null if the purge failed. Runs after the row has changed, so that a cache that
 * refetches in between gets nothing it may keep.
 */
async function purgeFromCdn(deps: DeletionDeps, due: StorageDeletionRow[]): Promise<Set<string> | null> {
  if (deps.cdn === null) return new Set();
  try {
    const names = due.map((row) => nameFile(keyOfObject(row.key)));
    const served = await deps.db.all(listServedOnce, {
      idsJson: JSON.stringify(names.map(({ id }) => id)),
      keysJson: JSON.stringify(names.map(({ key }) => key)),
    });
    const files = served.map(({ id, key, cdnUrl }) => ({
      id,
      urls: [deps.config, ...(cdnUrl === null ? [] : [{ cdnUrl }])].map((cdn) => fileUrl(cdn, key)),
    }));
    if (files.length > 0) await deps.cdn.purge(files);
    return new Set(served.map(({ key }) => key));
  } catch (error) {
    deps.log.warn({ err: error, objects: due.length }, "the CDN did not purge; will retry");
    return null;
  }
}

function pauseAfter(attempts: number): number {
  return Math.min(longestPauseMs, 1000 * 2 ** Math.min(attempts, 20));
}
