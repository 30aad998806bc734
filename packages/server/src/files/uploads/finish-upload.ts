import type { CompleteMultipartBody } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRouteRow, FileRow, ResumableUploadRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { findRoute, serves } from "../../projects/file-routes/find-route.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { settleUpload } from "../../projects/usage/quota.ts";
import type { AppendTarget, StoredObject } from "../../storage/object-store.ts";
import { placeFor } from "../../storage/storage-key.ts";
import { enqueueUploadCompleted } from "../../webhooks/enqueue.ts";
import { scheduleMove } from "../file-moves.ts";
import { factsDueAt } from "../image-facts.ts";
import {
  checkContent,
  contentMismatch,
  describeMismatch,
  mismatchRefusal,
  refuseContent,
} from "../inspection/check-content.ts";
import { stripStored, tooLargeToStrip } from "../inspection/strip-stored.ts";
import type { TypeVerdict } from "../inspection/type-detector.ts";
import { claimAfterScan, claimByFor, hasEnded, keepsBytes } from "../life.ts";
import { removeBytes, scheduleFileDeletion } from "../storage-deletions.ts";
import { findOpenUpload, findUpload, laneOf, markUploaded } from "./queries.ts";
import { checkPartOrder, checkPartRange, serialiseMetadata } from "./rules.ts";
import {
  notArrived,
  type Seal,
  type Sealed,
  sealAfter,
  sealAppended,
  sealNothing,
  sealParts,
  sealPut,
} from "./seal.ts";

type OnSaved = (tx: Queryable, file: FileRow) => Promise<void>;
type Metadata = Record<string, unknown> | undefined;
type Finished = { ok: true; file: FileRow } | Extract<Sealed, { ok: false }>;

const putAgain =
  "PUT the bytes to the presigned URL, wait for its 200, then complete again. If the URL has expired, call POST /upload/request again and complete the fileId it returns.";
const putPartsAgain =
  "PUT the part to its presigned URL, wait for its 200, then complete again with the ETags of all parts. If the URL has expired, POST /upload/multipart/sign returns a new one.";
const startAgain = "Call POST /upload/multipart/abort, then start again with POST /upload/multipart/init.";

export async function completeSingle(
  deps: Deps,
  actor: Actor,
  body: { fileId: string; metadata?: Record<string, unknown> },
  onSaved: OnSaved,
): Promise<FileRow> {
  const metadata = replacement(body.metadata);
  const file = await getOpenSingle(deps, actor, body.fileId);
  const seal = await sealPut(deps, file);
  const finished = await finishUpload(deps, actor, { file, seal, metadata, onSaved });
  if (!finished.ok) throw await explainUnfinished(deps, actor, file, finished);
  return finished.file;
}

async function getOpenSingle(deps: Deps, actor: Actor, id: string): Promise<FileRow> {
  const { projectId, environment } = actor;
  const file = await findOpenUpload(deps.db, { id, projectId, environment });
  if (file === null || hasEnded(file, deps.now)) throw notOpen();
  if (file.upload_id === null) return file;
  throw new AppError("FILE_NOT_IN_STORAGE", "The file is not in storage: its parts are not assembled yet.", {
    suggestion: "It is a multipart upload. Call POST /upload/multipart/complete with its uploadId and parts.",
  });
}

/** For an upload that is looked up by its id. */
export const notOpen = (): AppError =>
  new AppError("NOT_FOUND", "An open upload with this id was not found.", {
    suggestion:
      "It may be complete already, aborted or expired. Check the id, and that the key belongs to the same project and environment.",
  });

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
  const finished = await finishUpload(deps, actor, { file, seal, metadata, onSaved });
  if (!finished.ok) throw await explainUnfinished(deps, actor, file, finished);
  return finished.file;
}

type AppendedFile = FileRow & Pick<ResumableUploadRow, "grant_id"> & Pick<Actor, "cdnUrl">;

/** The end of an upload that grew append by append, and may have no bytes. */
export async function finishAppended(deps: Deps, file: AppendedFile, target: AppendTarget): Promise<FileRow> {
  const store = await deps.stores.get(file.store);
  return confirmAppended(
    deps,
    file,
    file.size_bytes === 0 ? await sealNothing(store, target) : await sealAppended(store, target),
  );
}

export async function confirmAppended(deps: Deps, file: AppendedFile, seal: Seal): Promise<FileRow> {
  const finished = await finishUpload(deps, file, {
    file,
    grantId: file.grant_id,
    seal,
    metadata: null,
    onSaved: async () => {},
  });
  if (finished.ok) return finished.file;
  throw notStored(finished);
}

export const notStored = ({ message }: Pick<Error, "message">) =>
  new AppError("FILE_NOT_IN_STORAGE", message, { suggestion: "Start the upload again." });

/** An open upload with exactly this pair of ids; a single-request upload has no upload id. */
export async function getOpenUpload(
  deps: Deps,
  actor: Actor,
  id: string,
  uploadId: string | null,
): Promise<FileRow> {
  const { projectId, environment } = actor;
  const file = await findOpenUpload(deps.db, { id, projectId, environment });
  if (file === null || file.upload_id !== uploadId || hasEnded(file, deps.now)) throw notOpen();
  return file;
}

interface Finish {
  file: FileRow;
  /** Gets its place back if the content is refused. */
  grantId?: string | null;
  seal: Seal;
  metadata: string | null;
  onSaved: OnSaved;
}

/** Its route or metadata may change during completion, but hardly more often than this. */
const mostAttempts = 5;

/**
 * The end of every upload. Once the bytes are final, one guarded change of the row, with all its consequences in the same
 * transaction. A second caller finds no open row.
 */
export async function finishUpload(
  deps: Deps,
  actor: Pick<Actor, "cdnUrl">,
  finish: Finish,
  attempts = mostAttempts,
): Promise<Finished> {
  const { file, seal, metadata, onSaved } = finish;
  const route = await findRoute(deps.db, file.project_id, file.route_slug);
  // The slug may now belong to a route of the other environment, whose keys must not see this file.
  const own = route !== null && serves(route, file.environment) ? route : null;
  const looked = own === null || !inspects(own) ? null : await lookAtOrCleanUp(deps, finish, own);
  const verdict = looked?.verdict ?? null;
  const now = deps.now();
  const webhookUrl = own?.webhook_url ?? null;
  const { waits, ...begun } = beginLife(deps, file, own, now);
  const save = async (tx: Queryable): Promise<Finished> => {
    const sealed = looked?.sealed ?? (await seal.within(tx));
    if (!sealed.ok) return sealed;
    const stored = sealed.object;
    // Don't trust the size that a customer's bucket reports, because it would be counted, shown and served.
    if (stored.sizeBytes !== file.size_bytes) return notArrived;
    const detectedType = verdict?.detected ?? null;
    const uploaded = {
      ...toUploaded(file, stored, now),
      metadata: metadata ?? file.metadata,
      claim_by: begun.claimBy,
      detected_type: detectedType,
      scan: begun.scan,
    };
    // Sent together, to lock shared rows for only one round trip; the guard comes first.
    const guard = markUploaded(tx, {
      id: file.id,
      routeSlug: file.route_slug,
      sizeBytes: stored.sizeBytes,
      etag: stored.etag,
      sha256: stored.sha256,
      metadata: uploaded.metadata,
      metadataBefore: file.metadata,
      ...begun,
      detectedType,
      now,
    });
    const changes: Promise<unknown>[] = [
      logCompleted(tx, now, uploaded),
      settleUpload(tx, now, scopeOf(file), {
        reservedBytes: countedBytes(file, file.size_bytes),
        storedBytes: countedBytes(file, stored.sizeBytes),
        reservedPeriod: file.reserved_period ?? "",
      }),
    ];
    if (verdict !== null && verdict.problem !== null) changes.push(logMismatch(tx, now, uploaded));
    if (!waits) {
      const url = fileUrl(cdnFor(deps.config, actor), uploaded.key);
      changes.push(enqueueUploadCompleted(tx, now, { file: uploaded, webhookUrl, fileUrl: url }));
    }
    // Scanning was turned on or off for its route meanwhile.
    if (uploaded.stored_apart !== placeFor(uploaded)) changes.push(scheduleMove(tx, now, uploaded));
    const consequences = Promise.all(changes);
    consequences.catch(() => {});
    if (!(await guard)) throw notOpen();
    await consequences;
    await onSaved(tx, uploaded);
    return { ok: true, file: uploaded };
  };
  let finished: Finished;
  try {
    finished = await deps.db.transact(save, laneOf(file));
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") {
      const found = await deps.db.get(findUpload, { id: file.id, ...scopeOf(file) });
      const isOpenButChanged =
        found?.status === "UPLOADING" &&
        !hasEnded(found, deps.now) &&
        (found.route_slug !== file.route_slug || found.metadata !== file.metadata);
      if (isOpenButChanged && attempts > 1)
        return finishUpload(
          deps,
          actor,
          { ...finish, file: found, seal: sealAfter(looked, seal) },
          attempts - 1,
        );
      await removeUnlessKept(deps, file, found);
    }
    throw error;
  }
  if (!finished.ok) return finished;
  if (waits) deps.scanner.nudge();
  else if (webhookUrl === null) deps.dispatcher.announce();
  else deps.dispatcher.nudge();
  return finished;
}

/** A file is neither announced nor processed before it has passed its route's scan. */
function beginLife(deps: Deps, file: FileRow, route: FileRouteRow | null, now: number) {
  const claimBy = claimByFor(route, now);
  // A deleted route's settings are gone. All that is left is that its file is kept apart, as every file is that will be
  // scanned.
  const isScanned = route === null ? file.stored_apart === 1 && deps.config.clamd !== null : route.scan === 1;
  if (!isScanned)
    return {
      waits: false,
      claimBy,
      factsDueAt: factsDueAt(file, { store: deps.store.name, imageTypes: deps.imageTypes }),
      scan: null,
      scanDueAt: null,
    } as const;
  const claimLater = claimBy === null ? null : claimAfterScan;
  return { waits: true, claimBy: claimLater, factsDueAt: null, scan: "pending", scanDueAt: 0 } as const;
}

async function lookAtOrCleanUp(...[deps, finish, route]: Parameters<typeof lookAt>) {
  const { file } = finish;
  try {
    return await lookAt(deps, finish, route);
  } catch (error) {
    await removeUnlessKept(deps, file, await deps.db.get(findUpload, { id: file.id, ...scopeOf(file) }));
    throw error;
  }
}

/** Whether the route checks or changes files before it confirms them. */
function inspects({ check_content: check, strip_metadata: strip }: FileRouteRow): boolean {
  return check !== "off" || strip !== "off";
}

async function lookAt(
  deps: Deps,
  { file, seal, grantId }: Finish,
  route: FileRouteRow,
): Promise<{ sealed: Sealed; verdict: TypeVerdict | null }> {
  const { check_content: check, strip_metadata: strip } = route;
  const sealed = await seal.first();
  if (!sealed.ok || sealed.object.sizeBytes !== file.size_bytes) return { sealed, verdict: null };
  const verdict = check === "off" ? null : await checkContent(deps, file, route, sealed.object);
  if (verdict === null && check !== "off") return { sealed: notArrived, verdict };
  if (verdict !== null && verdict.problem !== null && check === "enforce")
    throw (await refuseContent(deps, file, mismatchRefusal(file, verdict), grantId))
      ? contentMismatch(file, verdict)
      : notOpen();
  if (strip === "off") return { sealed, verdict };
  const stripped = await stripStored(deps, file, strip, sealed.object);
  if (stripped === "gone") return { sealed: notArrived, verdict };
  if (stripped !== "too-large") return { sealed: { ...sealed, ...stripped }, verdict };
  const [why, data] = ["it is too large to strip metadata", { reason: "too-large-to-strip" }];
  const refusal = { detected: verdict?.detected ?? null, why, data };
  throw (await refuseContent(deps, file, refusal, grantId)) ? tooLargeToStrip(route.slug) : notOpen();
}

/**
 * If the file was deleted, aborted or reaped while its bytes were being finalised, they may have been removed before
 * they existed. Nothing else would ever clean them up.
 */
async function removeUnlessKept(deps: Deps, file: FileRow, found: FileRow | null): Promise<void> {
  if (found !== null && (found.status === "UPLOADING" || keepsBytes(found))) return;
  const deletion = await deps.db.transact((tx) => scheduleFileDeletion(tx, deps.now(), file));
  await removeBytes(deps, [deletion]);
}

function toUploaded(file: FileRow, stored: StoredObject, now: number): FileRow {
  return {
    ...file,
    status: "UPLOADED",
    size_bytes: stored.sizeBytes,
    sha256: stored.sha256,
    etag: stored.etag,
    reserved_period: null,
    updated_at: now,
    completed_at: now,
  };
}

function scopeOf(file: FileRow) {
  return { projectId: file.project_id, environment: file.environment };
}

function logCompleted(tx: Queryable, now: number, file: FileRow): Promise<unknown> {
  return writeLog(tx, now, {
    ...scopeOf(file),
    type: "upload.completed",
    message: `Upload of "${file.name}" was completed.`,
    file,
    data: { size: file.size_bytes },
  });
}

function logMismatch(tx: Queryable, now: number, file: FileRow): Promise<unknown> {
  return writeLog(tx, now, {
    ...scopeOf(file),
    type: "file.mismatch",
    message: `"${file.name}" was declared as ${file.type}, but its content is ${file.detected_type ?? "of an unknown format"}.`,
    file,
    data: describeMismatch(file, file.detected_type),
  });
}

async function explainUnfinished(
  deps: Deps,
  actor: Actor,
  file: FileRow,
  finished: Exclude<Finished, { ok: true }>,
): Promise<AppError> {
  if (finished.problem === "part-too-small") return invalid("parts", finished.message);
  // Bytes that are missing because the upload was ended meanwhile are "not found", not "not arrived".
  await getOpenUpload(deps, actor, file.id, file.upload_id);
  const isLost = finished.problem === "too-large" || finished.problem === "unknown-upload";
  const again = isLost ? startAgain : putPartsAgain;
  const suggestion = file.upload_id === null ? putAgain : again;
  return new AppError("FILE_NOT_IN_STORAGE", finished.message, { suggestion });
}

function replacement(metadata: Metadata): string | null {
  return metadata === undefined ? null : serialiseMetadata(metadata);
}
