import {
  type Access,
  BUCKET_PUT_MAX_BYTES,
  PART_URL_SEC,
  type RequestUploadBody,
  SINGLE_URL_SEC,
} from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRouteRow, FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { holdStore } from "../../projects/customer-storage/queries.ts";
import { findRoute, requireServes } from "../../projects/file-routes/find-route.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes, periodOf } from "../../projects/usage/period.ts";
import { reserveQuota } from "../../projects/usage/quota.ts";
import { quotaLimits } from "../../projects/usage/quota-limits.ts";
import { UnknownStore } from "../../storage/object-store.ts";
import { buildStorageKey, objectKey, placeFor } from "../../storage/storage-key.ts";
import { findUpload, insertFile } from "./queries.ts";
import {
  checkFitsPut,
  checkNeedsMultipart,
  checkSize,
  checkType,
  emptyLifeMs,
  keepOpen,
  serialiseMetadata,
} from "./rules.ts";

export type OnSaved = (tx: Queryable, file: FileRow) => Promise<void>;

export async function requestUpload(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const metadata = serialiseMetadata(body.metadata ?? {});
  const route = await getUsableRoute(deps, actor, body);
  const file = newFile(deps, actor, body, { metadata, access: accessFor(route, body.access) });
  const maxPutBytes = await getMaxPutBytes(deps, file);
  return open(deps, actor, route, file, SINGLE_URL_SEC, async (tx, saved) => {
    // The last check, after the quota, which is only known here.
    checkFitsPut(file.size_bytes, maxPutBytes);
    await onSaved(tx, saved);
  });
}

/** Only the largest files are worth a check with the store. */
async function getMaxPutBytes(deps: Deps, file: FileRow): Promise<number> {
  if (file.size_bytes <= BUCKET_PUT_MAX_BYTES) return BUCKET_PUT_MAX_BYTES;
  const { maxPutBytes } = await deps.stores.get(file.store);
  return maxPutBytes ?? Number.POSITIVE_INFINITY;
}

/** The store opens its side first, outside the transaction; if the transaction fails, the sweeper cleans it up. */
export async function initMultipart(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const metadata = serialiseMetadata(body.metadata ?? {});
  checkNeedsMultipart(body.fileSize);
  const route = await getUsableRoute(deps, actor, body);
  const file = newFile(deps, actor, body, { metadata, access: accessFor(route, body.access) });
  const upload = { key: objectKey(file), contentType: file.type, sizeBytes: file.size_bytes };
  const store = await deps.stores.get(file.store);
  const uploadId = await store.startMultipart(upload);
  try {
    return await open(deps, actor, route, { ...file, upload_id: uploadId }, PART_URL_SEC, onSaved);
  } catch (error) {
    await store.abortMultipart({ key: upload.key, uploadId });
    throw error;
  }
}

/**
 * The file of an earlier call that is being repeated, to return the same response. While it is open, its new URLs have
 * to last as long as the first ones; if it can no longer be completed, there are none.
 */
export async function repeatUpload(deps: Deps, actor: Actor, id: string, urlSec: number): Promise<FileRow> {
  const file = await getLasting(deps, actor, id);
  if (file.status !== "UPLOADING" || (await keepOpen(deps, file, urlSec))) return file;
  return getLasting(deps, actor, id);
}

async function getLasting(deps: Deps, { projectId, environment }: Actor, id: string): Promise<FileRow> {
  const file = await deps.db.get(findUpload, { id, projectId, environment });
  if (file === null || file.status === "FAILED" || file.status === "DELETED")
    throw new AppError("NOT_FOUND", "The upload of the first call was given up, aborted or deleted.", {
      suggestion: "Start a new one with another Idempotency-Key.",
    });
  return file;
}

/** In the specified order: route, environment, type, size. The quota is checked in the transaction. */
async function getUsableRoute(deps: Deps, actor: Actor, body: RequestUploadBody): Promise<FileRouteRow> {
  const route = await findRoute(deps.db, actor.projectId, body.routeSlug);
  if (route === null) throw notFound(`File route "${body.routeSlug}"`);
  requireServes(route, actor.environment);
  checkType(route, body.contentType);
  checkSize(route, actor.tier, body.fileSize);
  return route;
}

/** A request can tighten its route's access, never loosen it. */
function accessFor(route: FileRouteRow, asked: Access = route.access): Access {
  if (asked === "public" && route.access === "private")
    throw invalid("access", `must be private: the file route "${route.slug}" takes private files only`);
  return asked;
}

function newFile(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  { metadata, access }: Pick<FileRow, "metadata" | "access">,
): FileRow {
  const now = deps.now();
  const id = createId(now);
  return {
    id,
    key: buildStorageKey(actor.projectId, body.routeSlug, id, body.fileName),
    project_id: actor.projectId,
    environment: actor.environment,
    route_slug: body.routeSlug,
    name: body.fileName,
    size_bytes: body.fileSize,
    type: body.contentType,
    status: "UPLOADING",
    metadata,
    sha256: null,
    etag: null,
    store: actor.storeName ?? deps.store.name,
    upload_id: null,
    reserved_period: null,
    reap_at: now,
    created_at: now,
    updated_at: now,
    completed_at: null,
    access,
    audience: body.audience ?? null,
    stored_apart: placeFor({ access }),
    links_revoked_at: 0,
    store_etag: null,
  };
}

async function open(
  deps: Deps,
  actor: Actor,
  route: FileRouteRow,
  file: FileRow,
  urlSec: number,
  onSaved: OnSaved,
): Promise<FileRow> {
  const now = file.created_at;
  const limits = quotaLimits(actor.environment, actor.tier, file.upload_id !== null);
  const period = periodOf(now);
  const saved = { ...file, reserved_period: period, reap_at: now + emptyLifeMs(urlSec) };
  return deps.db.transact(async (tx) => {
    const [held] = await Promise.all([
      actor.storeName === null ? undefined : tx.get(holdStore, { id: actor.storeName }),
      tx.run(insertFile, saved),
      writeLog(tx, now, {
        projectId: actor.projectId,
        environment: actor.environment,
        type: "upload.requested",
        message: `Upload of "${file.name}" was requested.`,
        file,
        data: {
          size: file.size_bytes,
          type: file.type,
          routeSlug: route.slug,
          multipart: file.upload_id !== null,
        },
      }),
      reserveQuota(tx, actor, { bytes: countedBytes(file, file.size_bytes), period }, limits),
    ]);
    if (held === null) throw new UnknownStore("the project's bucket was removed at this moment");
    await onSaved(tx, saved);
    return saved;
  }, actor.projectId);
}
