import type { Queryable } from "../../../db/database.ts";
import { inSteps } from "../../../db/job-leases.ts";
import type { FileRow } from "../../../db/schema.ts";
import type { Deps } from "../../../deps.ts";
import { AppError, unauthorized } from "../../../kernel/errors.ts";
import { writeLog } from "../../../projects/logs/queries.ts";
import { countedBytes } from "../../../projects/usage/period.ts";
import { releaseUsage } from "../../../projects/usage/quota.ts";
import type { AppendTarget } from "../../../storage/object-store.ts";
import { objectKey } from "../../../storage/storage-key.ts";
import { hasEnded } from "../../life.ts";
import { removeBytes, scheduleFileDeletion } from "../../storage-deletions.ts";
import { createSignedIds } from "../grants/grant.ts";
import { givePlacesBack } from "../grants/queries.ts";
import { removeOpenMultipart } from "../queries.ts";
import { type ArrivingFile, openArrival, type Uploader } from "../request-upload.ts";
import {
  deleteOldResumables,
  deleteResumable,
  findResumable,
  insertResumable,
  type ResumableUpload,
  setLength,
  shrinkFile,
} from "./queries.ts";

/** The last segment of an upload's URL, which is all that its client needs. */
export const uploadTokens = ({ keyring }: Pick<Deps, "keyring">) =>
  createSignedIds(keyring, "resumable upload", "");

export interface NewResumable extends ArrivingFile {
  /** The protocol's own state, as JSON. */
  described?: string;
}

/** Opens an upload that grows append by append. Without a size it reserves as much as is allowed. */
export async function openResumable(
  deps: Deps,
  uploader: Uploader,
  wanted: NewResumable,
  onSaved: (tx: Queryable, file: FileRow) => Promise<void> = async () => {},
): Promise<ResumableUpload> {
  const { actor, grant } = uploader;
  const isKey = grant === null ? !actor.keyId.includes(":") : grant.key_id !== null;
  const { appends } = await deps.stores.get(actor.storeName ?? deps.store.name);
  let opened: ResumableUpload | null = null;
  await openArrival(deps, uploader, wanted, async (tx, file) => {
    const row = {
      file_id: file.id,
      key_id: isKey ? actor.keyId : null,
      grant_id: grant?.id ?? null,
      length_bytes: wanted.fileSize,
      offset_bytes: 0,
      store_state: appends.start(file.size_bytes),
      described: wanted.described ?? "{}",
      lease: 0,
      lease_until: 0,
      is_awaited: 0,
      touched_at: file.created_at,
    };
    await tx.run(insertResumable, row);
    await onSaved(tx, file);
    opened = { ...row, ...file, cdnUrl: actor.cdnUrl, project_deleted_at: null, key_revoked_at: null };
  });
  return opened as unknown as ResumableUpload;
}

const gone = () =>
  new AppError("NOT_FOUND", "No open upload has this URL.", {
    suggestion: "It was finished, canceled or has expired. Create a new upload.",
  });

/** In any state but failed, deleted or expired. Throws 401 once its key was revoked. */
export async function getResumable(deps: Deps, fileId: string | null): Promise<ResumableUpload> {
  const upload = fileId === null ? null : await deps.db.get(findResumable, { fileId });
  if (upload === null || upload.status === "FAILED" || upload.status === "DELETED") throw gone();
  if (hasEnded(upload, deps.now)) throw gone();
  if (upload.key_revoked_at !== null || upload.project_deleted_at !== null)
    throw unauthorized("the key that started this upload was revoked");
  return upload;
}

export function targetOf(upload: ResumableUpload): AppendTarget {
  return {
    key: objectKey(upload),
    uploadId: upload.upload_id ?? "",
    contentType: upload.type,
    offset: upload.offset_bytes,
    state: upload.store_state,
  };
}

/** Fixes a length that was not known, and releases what was reserved beyond it. */
export async function fixLength(
  deps: Deps,
  upload: ResumableUpload,
  length: number,
): Promise<ResumableUpload> {
  const reserved = upload.size_bytes;
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    if ((await tx.run(setLength, { fileId: upload.id, length })) === 0) throw otherLength();
    if ((await tx.run(shrinkFile, { id: upload.id, sizeBytes: length })) === 0) throw gone();
    await releaseUsage(tx, now, scopeOf(upload), {
      storedBytes: 0,
      reservedBytes: countedBytes(upload, reserved - length),
      uploadsByPeriod: new Map(),
    });
  });
  return { ...upload, length_bytes: length, size_bytes: length };
}

export const otherLength = () =>
  new AppError("VALIDATION_ERROR", "The length does not match this upload's length.", {
    suggestion: "Get the upload's length with HEAD and use that.",
  });

/**
 * Ends an upload that is not finished; a stored file stays. The row goes first, so that nothing is saved any more. A grant
 * gets its place back if it is named.
 */
export async function cancelResumable(deps: Deps, upload: ResumableUpload, grantId?: string): Promise<void> {
  if (upload.status === "UPLOADED")
    throw new AppError("FORBIDDEN", "This upload is finished, and its file is stored.", {
      suggestion: "Delete the file with DELETE /api/v1/files/:key and an API key.",
    });
  const now = deps.now();
  const { appends } = await deps.stores.get(upload.store);
  const deletion = await deps.db.transact(async (tx) => {
    await tx.run(deleteResumable, { fileId: upload.id });
    const file = await tx.get(removeOpenMultipart, {
      id: upload.id,
      ...scopeOf(upload),
      uploadId: upload.upload_id ?? "",
    });
    if (file === null) throw gone();
    if (grantId !== undefined) await tx.run(givePlacesBack, { id: grantId, count: 1 });
    await releaseUsage(tx, now, scopeOf(upload), {
      storedBytes: 0,
      reservedBytes: countedBytes(file, file.size_bytes),
      uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
    });
    await writeLog(tx, now, {
      ...scopeOf(upload),
      type: "upload.aborted",
      message: `Upload of "${file.name}" was aborted.`,
      file,
    });
    return scheduleFileDeletion(tx, now, file);
  });
  await removeBytes(deps, [deletion]);
  await appends.discard(targetOf(upload));
}

const scopeOf = (upload: ResumableUpload) => ({
  projectId: upload.project_id,
  environment: upload.environment,
});

/** Finished ones answer repeated requests for a while; open ones were abandoned long before. */
const keptMs = 3 * 24 * 60 * 60 * 1000;

export const forgetOldResumables = ({ db, now }: Deps, signal: AbortSignal): Promise<void> =>
  inSteps((take) => db.run(deleteOldResumables, { before: now() - keptMs, take }), signal);
