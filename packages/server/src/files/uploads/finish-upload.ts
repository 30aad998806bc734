import type { CompleteMultipartBody } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { findRoute, serves } from "../../projects/file-routes/find-route.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { settleUpload } from "../../projects/usage/quota.ts";
import type { FinishMultipartResult, StoredObject } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { enqueueUploadCompleted } from "../../webhooks/enqueue.ts";
import { removeBytes, scheduleFileDeletion } from "../storage-deletions.ts";
import { findOpenUpload, findUpload, markUploaded } from "./queries.ts";
import { checkPartOrder, checkPartRange, serialiseMetadata } from "./rules.ts";

type OnSaved = (tx: Queryable, file: FileRow) => Promise<void>;
type Metadata = Record<string, unknown> | undefined;
/** Finalises the bytes, or reports that they already are, or why they cannot be. */
type Seal = (tx: Queryable) => Promise<Sealed>;
type Sealed = FinishMultipartResult | typeof notArrived;
type Finished = { ok: true; file: FileRow } | Extract<Sealed, { ok: false }>;

const notArrived = {
  ok: false,
  problem: "not-arrived",
  message: "The file has not arrived in storage.",
} as const;

const putAgain =
  "PUT the bytes to the presigned URL, wait for its 200, then complete again. If the URL has expired, call POST /upload/request again and complete the fileId that it returns.";
const putPartsAgain =
  "PUT the part to its presigned URL, wait for its 200, then complete again with the ETags of all parts. If the URL has expired, POST /upload/multipart/sign returns a new one.";

export async function completeSingle(
  deps: Deps,
  actor: Actor,
  body: { fileId: string; metadata?: Record<string, unknown> },
  onSaved: OnSaved,
): Promise<FileRow> {
  const metadata = replacement(body.metadata);
  const file = await getOpenSingle(deps, actor, body.fileId);
  const seal = await sealPut(deps, file);
  return getFinished(deps, actor, file, await finishUpload(deps, actor, { file, seal, metadata, onSaved }));
}

async function getOpenSingle(deps: Deps, actor: Actor, id: string): Promise<FileRow> {
  const { projectId, environment } = actor;
  const file = await deps.db.get(findOpenUpload, { id, projectId, environment });
  if (file === null) throw notOpen();
  if (file.upload_id === null) return file;
  throw new AppError("FILE_NOT_IN_STORAGE", "The file is not in storage: its parts are not assembled yet.", {
    suggestion: "It is a multipart upload. Call POST /upload/multipart/complete with its uploadId and parts.",
  });
}

const notOpen = () => notFound("An open upload with this id was");

/** A bucket finalises the bytes before the transaction, which must not wait for it; our own disk does so within. */
async function sealPut(deps: Deps, file: FileRow): Promise<Seal> {
  const store = await deps.stores.get(file.store);
  const key = objectKey(file);
  const { withinTransaction } = store;
  if (withinTransaction !== undefined)
    return async (tx) => toSealed(await withinTransaction.finishPut(tx, key));
  const sealed = toSealed(await store.finishPut(key, file.size_bytes));
  return async () => sealed;
}

const toSealed = (object: StoredObject | null): Sealed =>
  object === null ? notArrived : { ok: true, object };

export async function completeMultipart(
  deps: Deps,
  actor: Actor,
  body: CompleteMultipartBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const metadata = replacement(body.metadata);
  checkPartOrder(body.parts);
  const file = await getOpenUpload(deps, actor, body.fileId, body.uploadId);
  checkPartRange(
    "parts",
    body.parts.map((part) => part.partNumber),
    file.size_bytes,
  );
  const seal = await sealParts(deps, file, body);
  return getFinished(deps, actor, file, await finishUpload(deps, actor, { file, seal, metadata, onSaved }));
}

async function sealParts(deps: Deps, file: FileRow, body: CompleteMultipartBody): Promise<Seal> {
  const store = await deps.stores.get(file.store);
  const { withinTransaction } = store;
  const { uploadId, parts } = body;
  const upload = { key: objectKey(file), uploadId, sizeBytes: file.size_bytes, parts };
  if (withinTransaction !== undefined) return (tx) => withinTransaction.finishMultipart(tx, upload);
  const sealed = await store.finishMultipart(upload);
  return async () => sealed;
}

/** An open upload with exactly this pair of ids; a single-request upload has no upload id. */
export async function getOpenUpload(
  deps: Deps,
  actor: Actor,
  id: string,
  uploadId: string | null,
): Promise<FileRow> {
  const { projectId, environment } = actor;
  const file = await deps.db.get(findOpenUpload, { id, projectId, environment });
  if (file === null || file.upload_id !== uploadId) throw notOpen();
  return file;
}

interface Finish {
  file: FileRow;
  seal: Seal;
  metadata: string | null;
  onSaved: OnSaved;
}

/** Its route or metadata may change during completion, but hardly more often than this. */
const mostAttempts = 5;

/**
 * The end of both flows. Once the bytes are final, one guarded change of the row, with all its consequences in the same
 * transaction. A second caller finds no open row.
 */
async function finishUpload(
  deps: Deps,
  actor: Actor,
  finish: Finish,
  attempts = mostAttempts,
): Promise<Finished> {
  const { file, seal, metadata, onSaved } = finish;
  const now = deps.now();
  const route = await findRoute(deps.db, file.project_id, file.route_slug);
  // The slug may now belong to a route of the other environment, whose keys must not see this file.
  const webhookUrl = route !== null && serves(route, file.environment) ? route.webhook_url : null;
  const save = async (tx: Queryable): Promise<Finished> => {
    const sealed = await seal(tx);
    if (!sealed.ok) return sealed;
    const stored = sealed.object;
    // Don't trust the size that a customer's bucket reports, because it would be counted, shown and served.
    if (stored.sizeBytes !== file.size_bytes) return notArrived;
    const uploaded = toUploaded(file, stored, metadata ?? file.metadata, now);
    // Sent together, to lock shared rows for only one round trip; the guard comes first.
    const guard = tx.run(markUploaded, {
      id: file.id,
      routeSlug: file.route_slug,
      sizeBytes: stored.sizeBytes,
      etag: stored.etag,
      sha256: stored.sha256,
      metadata: uploaded.metadata,
      metadataBefore: file.metadata,
      now,
    });
    const consequences = Promise.all([
      logCompleted(tx, now, uploaded),
      settleUpload(tx, now, scopeOf(file), {
        reservedBytes: countedBytes(file, file.size_bytes),
        storedBytes: countedBytes(file, stored.sizeBytes),
        reservedPeriod: file.reserved_period ?? "",
      }),
      enqueueUploadCompleted(tx, now, {
        file: uploaded,
        webhookUrl,
        fileUrl: fileUrl(cdnFor(deps.config, actor), uploaded.key),
      }),
    ]);
    consequences.catch(() => {});
    if ((await guard) === 0) throw notOpen();
    await consequences;
    await onSaved(tx, uploaded);
    return { ok: true, file: uploaded };
  };
  let finished: Finished;
  try {
    finished = await deps.db.transact(save, file.project_id);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") {
      const found = await deps.db.get(findUpload, { id: file.id, ...scopeOf(file) });
      const isOpenButChanged =
        found?.status === "UPLOADING" &&
        (found.route_slug !== file.route_slug || found.metadata !== file.metadata);
      if (isOpenButChanged && attempts > 1)
        return finishUpload(deps, actor, { ...finish, file: found }, attempts - 1);
      await removeUnlessKept(deps, file, found);
    }
    throw error;
  }
  if (!finished.ok) return finished;
  if (webhookUrl === null) deps.dispatcher.announce();
  else deps.dispatcher.nudge();
  return finished;
}

/**
 * If the file was deleted, aborted or reaped while its bytes were being finalised, they may have been removed before
 * they existed. Nothing else would ever clean them up.
 */
async function removeUnlessKept(deps: Deps, file: FileRow, found: FileRow | null): Promise<void> {
  if (found?.status === "UPLOADED" || found?.status === "UPLOADING") return;
  const deletion = await deps.db.transact((tx) => scheduleFileDeletion(tx, deps.now(), file));
  await removeBytes(deps, [deletion]);
}

function toUploaded(file: FileRow, stored: StoredObject, metadata: string, now: number): FileRow {
  return {
    ...file,
    status: "UPLOADED",
    size_bytes: stored.sizeBytes,
    sha256: stored.sha256,
    etag: stored.etag,
    metadata,
    reserved_period: null,
    updated_at: now,
    completed_at: now,
  };
}

function scopeOf(file: FileRow) {
  return { projectId: file.project_id, environment: file.environment };
}

function logCompleted(tx: Queryable, now: number, file: FileRow): Promise<void> {
  return writeLog(tx, now, {
    ...scopeOf(file),
    type: "upload.completed",
    message: `Upload of "${file.name}" was completed.`,
    file,
    data: { size: file.size_bytes },
  });
}

async function getFinished(deps: Deps, actor: Actor, file: FileRow, finished: Finished): Promise<FileRow> {
  if (finished.ok) return finished.file;
  if (finished.problem === "part-too-small") throw invalid("parts", finished.message);
  // Bytes that are missing because the upload was ended meanwhile are "not found", not "not arrived".
  await getOpenUpload(deps, actor, file.id, file.upload_id);
  const suggestion = file.upload_id === null ? putAgain : putPartsAgain;
  throw new AppError("FILE_NOT_IN_STORAGE", finished.message, { suggestion });
}

function replacement(metadata: Metadata): string | null {
  return metadata === undefined ? null : serialiseMetadata(metadata);
}
