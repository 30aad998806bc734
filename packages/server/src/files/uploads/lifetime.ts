import type { FileTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { postponeReaping } from "./queries.ts";

const hourMs = 3_600_000;
const singleIdleMs = 24 * hourMs;
const multipartIdleMs = 7 * 24 * hourMs;

/** How long after a URL's expiry an upload that sent nothing counts as abandoned. */
const graceMs = 5 * 60 * 1000;

/** How long an upload that sent nothing stays open after its URLs were signed. */
export function emptyLifeMs(urlSec: number): number {
  return urlSec * 1000 + graceMs;
}

/** How long an upload that sent something stays open after its last sign of life. */
function idleLifeMs(file: FileTable): number {
  return file.upload_id === null ? singleIdleMs : multipartIdleMs;
}

/** How long an upload whose URLs have expired may go on; null where nothing speaks for it. */
export async function findOpenUntil(deps: Deps, file: FileTable): Promise<number | null> {
  // A slow upload is not an abandoned one. It is looked at again soon, because it may break off.
  if ((await deps.stores.get(file.store)).isArriving?.(file.key)) return deps.now() + graceMs;
  const lastReceived = await findLastReceived(deps, file);
  return lastReceived === null ? null : lastReceived + idleLifeMs(file);
}

/** When bytes last came in; null where none did. */
async function findLastReceived(deps: Deps, file: FileTable): Promise<number | null> {
  const store = await deps.stores.get(file.store);
  if (file.upload_id === null) return (await store.findReceived(file.key))?.receivedAt ?? null;
  const parts = await store.listParts({ key: file.key, uploadId: file.upload_id });
  // The store may have made them one, and the row not have heard of it.
  if (parts === null) return (await store.findReceived(file.key))?.receivedAt ?? null;
  return parts.length === 0 ? null : Math.max(...parts.map((part) => part.receivedAt));
}

/** Whoever gets fresh URLs is given the time to use them. False where it has longer anyway, or ended meanwhile. */
export async function keepOpen(deps: Deps, file: FileTable, urlSec: number): Promise<boolean> {
  const isEmpty = (await findLastReceived(deps, file)) === null;
  const lifeMs = isEmpty ? emptyLifeMs(urlSec) : idleLifeMs(file);
  return (await deps.db.run(postponeReaping, { id: file.id, reapAt: deps.now() + lifeMs })) > 0;
}
