import type { CompleteMultipartBody } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid, notFound } from "../../errors.ts";
import type { StoredObject } from "../../ports/object-store.ts";
import type { Actor } from "../api-keys/actor.ts";
import { findRoute, serves } from "../file-routes/find-route.ts";
import { cdnFor, fileUrl } from "../files/file-url.ts";
import { removeBytes, scheduleDeletion } from "../files/storage-deletions.ts";
import { writeLog } from "../logs/write-log.ts";
import { settleUpload } from "../usage/quota.ts";
import { enqueueUploadCompleted } from "../webhooks/enqueue.ts";
import { serialiseMetadata } from "./metadata.ts";
import type { OpenedUploads } from "./opened-uploads.ts";
import { findOpenUpload, findUpload, markUploaded } from "./queries.ts";
import { checkPartOrder, checkPartRange } from "./rules.ts";

type OnSaved = (tx: Queryable, file: FileTable) => Promise<void>;
type Metadata = Record<string, unknown> | undefined;
/** Makes the bytes final, or says that they are. Null: they have not arrived. */
type Seal = (tx: Queryable) => Promise<StoredObject | null>;

export async function completeSingle(
  deps: Deps,
  actor: Actor,
  opened: OpenedUploads,
  body: { fileId: string; metadata?: Record<string, unknown> },
  onSaved: OnSaved,
): Promise<FileTable> {
  const metadata = replacement(body.metadata);
  const finish = async (file: FileTable) =>
    finishUpload(deps, actor, { file, seal: await createSeal(deps, file), metadata, onSaved });
  const remembered = opened.take(body.fileId, actor);
  const finished = remembered && (await finish(remembered));
  if (finished !== null) return finished;
  const file = await getOpenUpload(deps, actor, body.fileId, null);
  return (await finish(file)) ?? refuseMissing(deps, actor, file);
}

/** A bucket makes the bytes final before the transaction, which must not wait for it; our own disk within. */
async function createSeal(deps: Deps, { store: name, key }: FileTable): Promise<Seal> {
  const store = await deps.stores.get(name);
  const { finishPutWithin } = store;
  if (finishPutWithin !== undefined) return (tx) => finishPutWithin(tx, key);
  const stored = await store.finishPut(key);
  return async () => stored;
}

export async function completeMultipart(
  deps: Deps,
  actor: Actor,
  body: CompleteMultipartBody,
  onSaved: OnSaved,
): Promise<FileTable> {
  const metadata = replacement(body.metadata);
  checkPartOrder(body.parts);
  const file = await getOpenUpload(deps, actor, body.fileId, body.uploadId);
  checkPartRange(
    "parts",
    body.parts.map((part) => part.partNumber),
    file.size_bytes,
  );
  const { key, size_bytes } = file;
  const store = await deps.stores.get(file.store);
  const result = await store.finishMultipart({
    key,
    uploadId: body.uploadId,
    sizeBytes: size_bytes,
    parts: body.parts,
  });
  if (result.ok) {
    const seal = async () => result.object;
    const finished = await finishUpload(deps, actor, { file, seal, metadata, onSaved });
    return finished ?? refuseMissing(deps, actor, file);
  }
  if (result.problem === "part-too-small") throw invalid("parts", result.message);
  throw await missingOrEnded(deps, actor, file, result.message);
}

/** An upload that is open under exactly this pair of ids; a single upload has no upload id. */
export async function getOpenUpload(
  deps: Deps,
  actor: Actor,
  id: string,
  uploadId: string | null,
): Promise<FileTable> {
  const { projectId, environment } = actor;
  const file = await deps.db.get(findOpenUpload, { id, projectId, environment });
  if (file === null || file.upload_id !== uploadId) throw notFound("An open upload with this id was");
  return file;
}

interface Finish {
  file: FileTable;
  seal: Seal;
  metadata: string | null;
  onSaved: OnSaved;
}

/**
 * The end of both flows. Once the bytes are final, one guarded change of the row, with everything that follows from
 * it in the same transaction. Whoever comes second finds no open row. Null where the bytes have not arrived.
 */
async function finishUpload(deps: Deps, actor: Actor, finish: Finish): Promise<FileTable | null> {
  const { file, seal, metadata, onSaved } = finish;
  const now = deps.now();
  const route = await findRoute(deps.db, file.project_id, file.route_slug);
  // The slug may have passed to a route of the other environment, whose keys must not learn of this file.
  const webhookUrl = route !== null && serves(route, file.environment) ? route.webhook_url : null;
  const save = async (tx: Queryable): Promise<FileTable | null> => {
    const stored = await seal(tx);
    if (stored === null) return null;
    const uploaded = toUploaded(file, stored, metadata ?? file.metadata, now);
    // Sent together, to hold the rows that everybody needs for one round trip only; the guard has the first word.
    const guard = tx.run(markUploaded, {
      id: file.id,
      routeSlug: file.route_slug,
      ...stored,
      metadata: uploaded.metadata,
      metadataBefore: file.metadata,
      now,
    });
    const consequences = Promise.all([
      logCompleted(tx, now, uploaded),
      settleUpload(tx, now, scopeOf(file), {
        reservedBytes: file.size_bytes,
        storedBytes: stored.sizeBytes,
        reservedPeriod: file.reserved_period ?? "",
      }),
      enqueueUploadCompleted(tx, now, {
        file: uploaded,
        webhookUrl,
        fileUrl: fileUrl(cdnFor(deps.config, actor), uploaded.key),
      }),
    ]);
    consequences.catch(() => {});
    if ((await guard) === 0) throw notFound("An open upload with this id was");
    await consequences;
    await onSaved(tx, uploaded);
    return uploaded;
  };
  let uploaded: FileTable | null;
  try {
    uploaded = await deps.db.transact(save, file.project_id);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") {
      const found = await deps.db.get(findUpload, { id: file.id, ...scopeOf(file) });
      const isOpenButChanged =
        found?.status === "UPLOADING" &&
        (found.route_slug !== file.route_slug || found.metadata !== file.metadata);
      if (isOpenButChanged) return finishUpload(deps, actor, { ...finish, file: found });
      await removeUnlessKept(deps, file, found);
    }
    throw error;
  }
  if (uploaded === null) return null;
  if (webhookUrl === null) deps.dispatcher.announce();
  else deps.dispatcher.nudge();
  return uploaded;
}

/**
 * Whoever deleted, aborted or reaped the file while its bytes were made final may have removed them before they
 * were there. Nobody else would ever look for them.
 */
async function removeUnlessKept(deps: Deps, file: FileTable, found: FileTable | null): Promise<void> {
  if (found?.status === "UPLOADED" || found?.status === "UPLOADING") return;
  const deletion = await deps.db.transact((tx) => scheduleDeletion(tx, deps.now(), file));
  await removeBytes(deps, [deletion]);
}

function toUploaded(file: FileTable, stored: StoredObject, metadata: string, now: number): FileTable {
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

function scopeOf(file: FileTable) {
  return { projectId: file.project_id, environment: file.environment };
}

function logCompleted(tx: Queryable, now: number, file: FileTable): Promise<void> {
  return writeLog(tx, now, {
    ...scopeOf(file),
    type: "upload.completed",
    message: `Upload of "${file.name}" was completed.`,
    file,
    data: { size: file.size_bytes },
  });
}

async function refuseMissing(deps: Deps, actor: Actor, file: FileTable): Promise<never> {
  throw await missingOrEnded(deps, actor, file, "The file has not arrived in storage.");
}

/** Bytes that are not there because somebody else ended the upload are "not found", not "not arrived". */
async function missingOrEnded(deps: Deps, actor: Actor, file: FileTable, message: string): Promise<AppError> {
  await getOpenUpload(deps, actor, file.id, file.upload_id);
  return new AppError("FILE_NOT_IN_STORAGE", message, {
    suggestion: "PUT the bytes to the presigned URL, wait for its 200, then complete again.",
  });
}

function replacement(metadata: Metadata): string | null {
  return metadata === undefined ? null : serialiseMetadata(metadata);
}
