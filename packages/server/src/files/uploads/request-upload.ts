import { BUCKET_PUT_MAX_BYTES, PART_URL_SEC, type RequestUploadBody, SINGLE_URL_SEC } from "@upstow/contract";
import { type Queryable, withCommit } from "../../db/database.ts";
import type { FileRouteRow, FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { createId, randomText } from "../../kernel/ids.ts";
import { holdStore } from "../../projects/customer-storage/queries.ts";
import { findRoute, requireServes } from "../../projects/file-routes/find-route.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes, periodOf } from "../../projects/usage/period.ts";
import { reserveQuota } from "../../projects/usage/quota.ts";
import { isLimited, quotaLimits } from "../../projects/usage/quota-limits.ts";
import { UnknownStore } from "../../storage/object-store.ts";
import { buildStorageKey, objectKey, placeFor } from "../../storage/storage-key.ts";
import { hasEnded, readExpiry } from "../life.ts";
import { checkGrantedType, checkOpen, takePlaceOf } from "./grants/grant.ts";
import type { FoundUploadGrant } from "./grants/queries.ts";
import { addFile, findUpload, laneOf } from "./queries.ts";
import {
  ARRIVAL_SEC,
  accessFor,
  checkFitsPut,
  checkNeedsMultipart,
  checkSize,
  checkType,
  emptyLifeMs,
  keepOpen,
  serialiseMetadata,
  sizeLimit,
  tooLarge,
} from "./rules.ts";

export type OnSaved = (tx: Queryable, file: FileRow) => Promise<void>;

export async function requestUpload(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const { route, file } = await planFile(deps, actor, body);
  const { size_bytes: sizeBytes, store } = file;
  if (sizeBytes <= BUCKET_PUT_MAX_BYTES) return openUpload(deps, actor, route, file, SINGLE_URL_SEC, onSaved);
  const { maxPutBytes = Number.POSITIVE_INFINITY } = await deps.stores.get(store);
  return openUpload(deps, actor, route, file, SINGLE_URL_SEC, (tx, saved) => {
    // The last check, after the quota, which is only known here.
    checkFitsPut(sizeBytes, maxPutBytes);
    return onSaved(tx, saved);
  });
}

export async function initMultipart(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  onSaved: OnSaved,
): Promise<FileRow> {
  const { route, file } = await planFile(deps, actor, body, () => checkNeedsMultipart(body.fileSize));
  return openInParts(deps, actor, route, file, PART_URL_SEC, onSaved);
}

/** A bucket opens its side first, outside the transaction; if the transaction fails, the sweeper cleans it up. */
async function openInParts(
  deps: Deps,
  actor: Actor,
  route: FileRouteRow,
  file: FileRow,
  urlSec: number,
  onSaved: OnSaved,
): Promise<FileRow> {
  const upload = { key: objectKey(file), contentType: file.type, sizeBytes: file.size_bytes };
  const store = await deps.stores.get(file.store);
  const { withinTransaction } = store;
  if (withinTransaction !== undefined) {
    const uploadId = randomText(26);
    return openUpload(deps, actor, route, { ...file, upload_id: uploadId }, urlSec, async (tx, saved) => {
      await withinTransaction.startMultipart(tx, { ...upload, uploadId });
      await onSaved(tx, saved);
    });
  }
  const uploadId = await store.startMultipart(upload);
  try {
    return await openUpload(deps, actor, route, { ...file, upload_id: uploadId }, urlSec, onSaved);
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
  if (file === null || ["FAILED", "DELETED"].includes(file.status) || hasEnded(file, deps.now))
    throw new AppError("NOT_FOUND", "The upload of the first call was abandoned, aborted or deleted.", {
      suggestion: "Start a new one with another Idempotency-Key.",
    });
  return file;
}

/** In the specified order: body, route, environment, type, size. The quota is checked in the transaction. */
async function planFile(
  deps: Deps,
  actor: Actor,
  body: RequestUploadBody,
  checkBody: () => void = () => {},
): Promise<{ route: FileRouteRow; file: FileRow }> {
  const asked = readBody(deps, body);
  checkBody();
  const route = await getServingRoute(deps, actor, body.routeSlug);
  checkType(route, body.contentType);
  checkSize(route, actor.tier, body.fileSize);
  const access = accessFor(route, body.access);
  return { route, file: newFile(deps, actor, route, body, { ...asked, access }) };
}

/** The part of a file that depends on nothing but the body, which is judged before anything is looked up. */
export function readBody(
  deps: Pick<Deps, "now">,
  body: Pick<RequestUploadBody, "metadata" | "expiresIn" | "expiresAt">,
) {
  return { metadata: serialiseMetadata(body.metadata ?? {}), expiresAt: readExpiry(body, deps.now()) };
}

export async function getServingRoute(deps: Deps, actor: Actor, slug: string): Promise<FileRouteRow> {
  const route = await findRoute(deps.db, actor.projectId, slug);
  if (route === null) throw notFound(`File route "${slug}"`);
  requireServes(route, actor.environment);
  return route;
}

/** The caller that starts an upload: an API key, or the holder of a grant, which sets the route and limits. */
export interface Uploader {
  actor: Actor;
  grant: Readonly<FoundUploadGrant> | null;
}

export async function getGrantedRoute(
  deps: Deps,
  { actor, grant }: { actor: Actor; grant: Readonly<FoundUploadGrant> },
): Promise<FileRouteRow> {
  if (grant.route_slug === null) throw notFound("The file route of this upload grant was");
  return getServingRoute(deps, actor, grant.route_slug);
}

/** As the plan, the route and the grant allow. */
export function largestFile(route: FileRouteRow, { actor, grant }: Uploader): number {
  return Math.min(sizeLimit(route, actor.tier), grant?.max_file_size_bytes ?? Number.POSITIVE_INFINITY);
}

/** A file that arrives through a door other than the JSON API. */
export interface ArrivingFile {
  fileName: string;
  /** Null if it is not known yet: as much as is allowed, or as can come, is reserved. */
  fileSize: number | null;
  mostBytes?: number | undefined;
  contentType: string;
  /** Without a grant. */
  routeSlug: string;
  metadata: Record<string, unknown>;
}

/**
 * Opens an upload in parts for a key or under a grant, of which it takes a place in the same transaction. It may have no
 * bytes.
 */
export async function openArrival(
  deps: Deps,
  { actor, grant }: Uploader,
  wanted: ArrivingFile,
  onSaved: OnSaved,
): Promise<FileRow> {
  if (grant !== null) checkOpen(grant, deps.now());
  const metadata = serialiseMetadata({ ...wanted.metadata, ...(grant && JSON.parse(grant.metadata)) });
  const route =
    grant === null
      ? await getServingRoute(deps, actor, wanted.routeSlug)
      : await getGrantedRoute(deps, { actor, grant });
  checkType(route, wanted.contentType);
  if (grant !== null) checkGrantedType(grant, wanted.contentType);
  const limit = largestFile(route, { actor, grant });
  const fileSize = wanted.fileSize ?? Math.min(limit, wanted.mostBytes ?? limit);
  if (fileSize > limit) throw tooLarge(fileSize, limit, { status: 413 });
  const body = {
    ...wanted,
    fileSize,
    routeSlug: route.slug,
    ...(grant?.audience && { audience: grant.audience }),
  };
  // The route may have become private since the grant was given.
  const access = route.access === "private" ? route.access : (grant?.access ?? route.access);
  const file = newFile(deps, actor, route, body, { metadata, access });
  return openInParts(deps, actor, route, file, ARRIVAL_SEC, async (tx, saved) => {
    if (grant !== null) await takePlaceOf(tx, grant, deps.now());
    await onSaved(tx, saved);
  });
}

const dayMs = 24 * 60 * 60 * 1000;
const inDays = (days: number | null, now: number) => (days === null ? null : now + days * dayMs);

export function newFile(
  deps: Deps,
  actor: Actor,
  route: FileRouteRow,
  body: RequestUploadBody,
  {
    metadata,
    expiresAt,
    access,
  }: Pick<FileRow, "metadata" | "access"> & Partial<ReturnType<typeof readBody>>,
): FileRow {
  const now = deps.now();
  const id = createId(now);
  const { expire_after_days: days } = route;
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
    stored_apart: placeFor({ access, scan: route.scan === 1 ? "pending" : null }),
    links_revoked_at: 0,
    store_etag: null,
    expires_at: expiresAt === undefined ? inDays(days, now) : expiresAt,
    claim_by: null,
    purge_at: null,
    image: null,
    facts_due_at: null,
    focus: null,
    detected_type: null,
    scan: null,
    scan_due_at: null,
  };
}

export function openUpload(
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
  const bytes = countedBytes(file, file.size_bytes);
  const save = (tx: Queryable) =>
    Promise.all([
      addFile(tx, saved),
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
      reserveQuota(tx, actor, { bytes, period }, limits),
    ]);
  // What no quota can refuse is sent with the commit, which saves a round trip.
  const sendAll = (tx: Queryable) => (isLimited(limits, bytes) ? save(tx) : withCommit(tx, () => save(tx)));
  return deps.db.transact(async (tx) => {
    if (actor.storeName === null) await sendAll(tx);
    else {
      const [held] = await Promise.all([tx.get(holdStore, { id: actor.storeName }), sendAll(tx)]);
      if (held === null) throw new UnknownStore("the project's bucket was removed at this moment");
    }
    await onSaved(tx, saved);
    return saved;
  }, laneOf(file));
}
