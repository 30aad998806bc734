import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { StorageUnavailable, UnknownStore } from "../../storage/object-store.ts";
import { removeBytes } from "../storage-deletions.ts";
import { failUpload } from "./fail-upload.ts";
import { listAbandoned, markFailed, postponeReaping } from "./queries.ts";
import { findResumable } from "./resumable/queries.ts";
import { targetOf } from "./resumable/uploads.ts";
import { findOpenUntil } from "./rules.ts";

/** They are ended concurrently, with a request to the bucket for each. */
const batchSize = 20;
const awayMs = 10 * 60_000;

/**
 * Ends abandoned uploads, whatever happened to their key or project: soon if nothing was received, otherwise after a
 * day (single) or a week (multipart) without activity.
 */
export async function reapAbandonedUploads(deps: Deps, signal?: AbortSignal): Promise<number> {
  let failedCount = 0;
  for (;;) {
    signal?.throwIfAborted();
    const candidates = await deps.db.all(listAbandoned, { now: deps.now(), take: batchSize });
    const outcomes = await Promise.allSettled(candidates.map((file) => reap(deps, file)));
    failedCount += outcomes.filter((outcome) => outcome.status === "fulfilled" && outcome.value).length;
    const problem = outcomes.find((outcome) => outcome.status === "rejected");
    // The rest of the batch is done, and failures are postponed.
    if (problem !== undefined) throw problem.reason;
    if (candidates.length < batchSize) return failedCount;
  }
}

async function reap(deps: Deps, file: FileRow): Promise<boolean> {
  try {
    const openUntil = await findOpenUntilIfKnown(deps, file);
    if (openUntil === null || openUntil <= deps.now()) return await fail(deps, file);
    await deps.db.run(postponeReaping, { id: file.id, reapAt: openUntil });
    return false;
  } catch (error) {
    // An upload that cannot be ended must not block others.
    await deps.db.run(postponeReaping, { id: file.id, reapAt: deps.now() + awayMs });
    const isCustomersBucketAway = error instanceof StorageUnavailable && file.store !== deps.store.name;
    if (isCustomersBucketAway) return false;
    throw error;
  }
}

async function findOpenUntilIfKnown(deps: Deps, file: FileRow): Promise<number | null> {
  try {
    return await findOpenUntil(deps, file);
  } catch (error) {
    if (error instanceof UnknownStore) return null;
    throw error;
  }
}

async function fail(deps: Deps, file: FileRow): Promise<boolean> {
  const now = deps.now();
  const deletion = await deps.db.transact(async (tx) => {
    if ((await tx.run(markFailed, { id: file.id, now })) === 0) return null;
    return failUpload(tx, now, file, { message: `Upload of "${file.name}" was abandoned.` });
  });
  if (deletion === null) return false;
  await removeBytes(deps, [deletion]);
  await discardAppends(deps, file);
  return true;
}

/** Removes the leftovers of an upload by appends; a bucket's own sweep would find them only later. */
async function discardAppends(deps: Deps, file: FileRow): Promise<void> {
  const upload = file.upload_id === null ? null : await deps.db.get(findResumable, { fileId: file.id });
  if (upload === null) return;
  const store = await deps.stores.get(file.store).catch(() => null);
  await store?.appends.discard(targetOf(upload));
}
