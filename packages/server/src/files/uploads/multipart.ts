import { PART_URL_SEC } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { releaseUsage } from "../../projects/usage/quota.ts";
import type { ReceivedPart } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { removeBytes, scheduleFileDeletion } from "../storage-deletions.ts";
import { getOpenUpload, notOpen } from "./finish-upload.ts";
import { removeOpenMultipart } from "./queries.ts";
import { checkPartRange, checkPartsOnce, keepOpen, partCount } from "./rules.ts";

export interface SignedPart {
  partNumber: number;
  uploadUrl: string;
}

export async function signAllParts(deps: Deps, actor: Actor, file: FileRow): Promise<SignedPart[]> {
  const partNumbers = Array.from({ length: partCount(file.size_bytes) }, (_, i) => i + 1);
  return sign(deps, actor, file, partNumbers);
}

/** New URLs for an upload that outlived its first ones; it counts as active again. */
export async function signParts(
  deps: Deps,
  actor: Actor,
  ref: { fileId: string; uploadId: string; partNumbers: number[] },
): Promise<SignedPart[]> {
  const file = await getOpenUpload(deps, actor, ref.fileId, ref.uploadId);
  checkPartRange("partNumbers", ref.partNumbers, file.size_bytes);
  checkPartsOnce(ref.partNumbers);
  const isPostponed = await keepOpen(deps, file, PART_URL_SEC);
  if (!isPostponed) await getOpenUpload(deps, actor, ref.fileId, ref.uploadId);
  return sign(deps, actor, file, ref.partNumbers);
}

export async function listReceivedParts(
  deps: Deps,
  actor: Actor,
  ref: { fileId: string; uploadId: string },
  signal: AbortSignal,
): Promise<{ file: FileRow; parts: ReceivedPart[] }> {
  const file = await getOpenUpload(deps, actor, ref.fileId, ref.uploadId);
  const store = await deps.stores.get(file.store);
  const parts = await store.listParts({ key: objectKey(file), uploadId: ref.uploadId }, signal);
  if (parts === null) throw notOpen();
  return { file, parts };
}

/** Ends the row first, so that a concurrent completion finds nothing; the parts follow. */
export async function abortMultipart(
  deps: Deps,
  actor: Actor,
  ref: { fileId: string; uploadId: string },
  onSaved: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const { projectId, environment } = actor;
  const now = deps.now();
  const deletion = await deps.db.transact(async (tx) => {
    const file = await tx.get(removeOpenMultipart, {
      id: ref.fileId,
      projectId,
      environment,
      uploadId: ref.uploadId,
    });
    if (file === null) throw notOpen();
    await releaseUsage(tx, now, actor, {
      storedBytes: 0,
      reservedBytes: countedBytes(file, file.size_bytes),
      uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
    });
    await writeLog(tx, now, {
      projectId,
      environment,
      type: "upload.aborted",
      message: `Upload of "${file.name}" was aborted.`,
      file,
    });
    await onSaved(tx);
    return scheduleFileDeletion(tx, now, file);
  });
  await removeBytes(deps, [deletion]);
}

/** The URLs of a 10 GB file take 10 ms, so calls take turns. */
async function sign(
  deps: Deps,
  { accountId }: Actor,
  file: FileRow,
  partNumbers: number[],
): Promise<SignedPart[]> {
  const store = await deps.stores.get(file.store);
  const wanted = {
    key: objectKey(file),
    uploadId: file.upload_id ?? "",
    sizeBytes: file.size_bytes,
    partNumbers,
    expiresInSec: PART_URL_SEC,
  };
  const urls = await deps.turns.take(accountId, async () => store.presignParts(wanted));
  return partNumbers.map((partNumber, i) => ({ partNumber, uploadUrl: urls[i] ?? "" }));
}
