import { sql } from "#kysely";
import type { Queryable } from "../db/database.ts";
import type { FileMoveRow, FileRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { randomText } from "../kernel/ids.ts";
import { type ObjectStore, UnknownStore } from "../storage/object-store.ts";
import { objectKey, placeFor } from "../storage/storage-key.ts";
import { removeBytes, scheduleFileDeletion } from "./storage-deletions.ts";

type MoveDeps = Pick<Deps, "config" | "db" | "stores" | "cdn" | "now" | "log">;

const batchSize = 20;
const leaseMs = 120_000;
const extendEveryMs = 30_000;
const longestPauseMs = 3_600_000;
/** Open uploads are moved after completion. */
const openPauseMs = 60_000;
/** While an object under the target name is still being deleted. */
const deletionPauseMs = 1_000;

/** The inserter does the work. On conflict, the bumped version tells the current worker about the change. */
const insertMove = statement((q, p: { fileId: string; claim: string; runAt: number }) =>
  q
    .insertInto("file_move")
    .values({ file_id: p.fileId, version: 1, claim: p.claim, run_at: p.runAt, attempts: 1 })
    .onConflict((conflict) => conflict.column("file_id").doUpdateSet({ version: sql`file_move.version + 1` }))
    .returningAll(),
);

const claimDue = statement((q, p: { claim: string; now: number; leaseUntil: number }) =>
  q
    .updateTable("file_move")
    .set({ claim: p.claim, run_at: p.leaseUntil, attempts: sql`attempts + 1` })
    .where("run_at", "<=", p.now)
    .where("file_id", "in", (inner) =>
      inner
        .selectFrom("file_move")
        .select("file_id")
        .where("run_at", "<=", p.now)
        .orderBy("run_at")
        .limit(batchSize),
    )
    .returningAll(),
);

interface Claimed {
  fileId: string;
  claim: string;
}

const postponeMove = statement((q, p: Claimed & { runAt: number }) =>
  q
    .updateTable("file_move")
    .set({ run_at: p.runAt })
    .where("file_id", "=", p.fileId)
    .where("claim", "=", p.claim),
);

const findMove = statement((q, p: Claimed) =>
  q.selectFrom("file_move").selectAll().where("file_id", "=", p.fileId).where("claim", "=", p.claim),
);

/** The version guards against losing a change made in the meantime. */
const forgetMove = statement((q, p: Claimed & { version: number }) =>
  q
    .deleteFrom("file_move")
    .where("file_id", "=", p.fileId)
    .where("claim", "=", p.claim)
    .where("version", "=", p.version),
);

const findAnyFile = statement((q, p: { id: string }) =>
  q.selectFrom("file").selectAll().where("id", "=", p.id),
);

export const findPendingDeletion = statement((q, p: { store: string; key: string }) =>
  q
    .selectFrom("storage_deletion")
    .select("id")
    .where("store", "=", p.store)
    .where("key", "=", p.key)
    .where("bytes_gone", "=", 0)
    .limit(1),
);

interface Switch {
  id: string;
  from: number;
  to: number;
  etag: string | null;
  storeEtag: string | null;
}

/** From now on the copy is served. Changes nothing if the file was deleted in the meantime. */
const switchPlace = statement((q, p: Switch) =>
  q
    .updateTable("file")
    .set({ stored_apart: p.to, etag: p.etag, store_etag: p.storeEtag })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADED")
    .where("stored_apart", "=", p.from),
);

const elsewhere = (file: FileRow): FileRow => ({ ...file, stored_apart: 1 - file.stored_apart });

/**
 * Part of the transaction that changes a file's access. The access applies from the commit on; the bytes follow when the
 * caller passes the result to `moveBytes`. If that does not happen, the queue takes over.
 */
export async function scheduleMove(tx: Queryable, now: number, file: FileRow): Promise<FileMoveRow[]> {
  const claim = randomText(16);
  const moves = await tx.all(insertMove, { fileId: file.id, claim, runAt: now + leaseMs });
  return moves.filter((move) => move.claim === claim);
}

/** Done before the response is sent; failures are left to the queue. */
export async function moveBytes(deps: MoveDeps, moves: FileMoveRow[]): Promise<void> {
  await Promise.all(moves.map((move) => moveOrPostpone(deps, move)));
}

/** Retries with growing delays. */
export async function runMoves(deps: MoveDeps): Promise<void> {
  const now = deps.now();
  const due = await deps.db.change(claimDue, { claim: randomText(16), now, leaseUntil: now + leaseMs });
  for (const move of due) await moveOrPostpone(deps, move);
}

async function moveOrPostpone(deps: MoveDeps, { file_id, claim, attempts }: FileMoveRow): Promise<void> {
  const claimed = { fileId: file_id, claim };
  const setRunAt = (pauseMs: number) =>
    deps.db.run(postponeMove, { ...claimed, runAt: deps.now() + pauseMs });
  const extending = setInterval(() => void setRunAt(leaseMs).catch(() => {}), extendEveryMs);
  try {
    const pauseMs = await bringHome(deps, claimed);
    if (pauseMs !== null) await setRunAt(pauseMs);
  } catch (error) {
    deps.log.warn({ err: error, fileId: file_id }, "the bytes of a file were not moved; will retry");
    await setRunAt(Math.min(longestPauseMs, 1000 * 2 ** Math.min(attempts, 20))).catch(() => {});
  } finally {
    clearInterval(extending);
  }
}

/** Null once the bytes are in place; otherwise the delay before the next attempt. */
async function bringHome(deps: MoveDeps, claimed: Claimed): Promise<number | null> {
  let hasLeftover = false;
  for (;;) {
    const move = await deps.db.get(findMove, claimed);
    if (move === null) return null;
    const file = await deps.db.get(findAnyFile, { id: claimed.fileId });
    if (file?.status === "UPLOADING") return openPauseMs;
    const isSettled = file?.status !== "UPLOADED" || file.stored_apart === placeFor(file);
    const store = isSettled ? null : await findStore(deps, file.store);
    if (isSettled || store === null) {
      // An earlier worker may have copied the object without switching.
      const leftover = hasLeftover || move.attempts > 1 ? file : null;
      if (await finish(deps, { ...claimed, version: move.version }, leftover)) return null;
      continue;
    }
    const outcome = await moveTo(deps, store, { claimed, from: file, to: elsewhere(file) });
    if (outcome === "name taken") return deletionPauseMs;
    hasLeftover = outcome === "not switched";
  }
}

async function findStore({ stores }: MoveDeps, name: string): Promise<ObjectStore | null> {
  try {
    return await stores.get(name);
  } catch (error) {
    if (error instanceof UnknownStore) return null;
    throw error;
  }
}

/** False if the access was changed again. */
async function finish(
  deps: MoveDeps,
  move: Claimed & { version: number },
  leftover: FileRow | null,
): Promise<boolean> {
  return deps.db.transact(async (tx) => {
    if ((await tx.run(forgetMove, move)) === 0) return false;
    if (leftover !== null) await scheduleFileDeletion(tx, deps.now(), elsewhere(leftover));
    return true;
  });
}

interface Way {
  claimed: Claimed;
  from: FileRow;
  to: FileRow;
}

type Outcome = "moved" | "not switched" | "name taken";

/** Copy, switch the row, delete. */
async function moveTo(deps: MoveDeps, store: ObjectStore, way: Way): Promise<Outcome> {
  const { db } = deps;
  const { from, to } = way;
  const [fromKey, toKey] = [objectKey(from), objectKey(to)];
  const { withinTransaction, copies } = store;
  if (withinTransaction !== undefined) {
    return db.transact(async (tx) => {
      if (!(await switchOver(tx, deps.now(), way, { etag: from.etag, storeEtag: from.store_etag })))
        return "not switched";
      await withinTransaction.rename(tx, fromKey, toKey);
      return "moved";
    });
  }
  if (copies === undefined) throw new Error(`the store ${store.name} can move nothing`);
  // A pending deletion would remove the copy.
  if ((await db.get(findPendingDeletion, { store: from.store, key: toKey })) !== null) return "name taken";
  const copied = await copies.copy(fromKey, toKey);
  if (copied === null) throw new Error("the object to be moved is not there");
  const deletions = await db.transact(async (tx) => {
    const { etag } = copied;
    const isSwitched = await switchOver(tx, deps.now(), way, { etag, storeEtag: etag });
    return isSwitched ? [await scheduleFileDeletion(tx, deps.now(), { ...from, upload_id: null })] : [];
  });
  await removeBytes(deps, deletions);
  return deletions.length === 0 ? "not switched" : "moved";
}

/** Requires the claim: after losing it, the copy may have been deleted as a leftover. */
async function switchOver(
  tx: Queryable,
  now: number,
  way: Way,
  etags: Pick<Switch, "etag" | "storeEtag">,
): Promise<boolean> {
  const { claimed, from, to } = way;
  if ((await tx.run(postponeMove, { ...claimed, runAt: now + leaseMs })) === 0) return false;
  const place = { id: from.id, from: from.stored_apart, to: to.stored_apart };
  return (await tx.run(switchPlace, { ...place, ...etags })) === 1;
}
