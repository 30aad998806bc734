import {
  type Access,
  GB,
  METADATA_MAX_BYTES,
  METADATA_MAX_DEPTH,
  MULTIPART_THRESHOLD_BYTES,
  PART_SIZE_BYTES,
  PART_URL_SEC,
  RESUMABLE_IDLE_SEC,
  TIERS,
  type TierName,
} from "@upstow/contract";
import type { FileRouteRow, FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, type AppErrorOptions, invalid, raiseTier } from "../../kernel/errors.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { isAllowedType, mediaType } from "./media-type.ts";
import { postponeReaping } from "./queries.ts";
import { findActivity } from "./resumable/queries.ts";

export function checkType(route: FileRouteRow, contentType: string): void {
  const allowedTypes: string[] = JSON.parse(route.allowed_types);
  if (isAllowedType(allowedTypes, contentType)) return;
  throw new AppError(
    "INVALID_FILE_TYPE",
    `The file route "${route.slug}" does not accept ${mediaType(contentType)}.`,
    { suggestion: `Accepted: ${allowedTypes.join(", ")}.` },
  );
}

/** A request can tighten its route's access, never loosen it. */
export function accessFor(route: FileRouteRow, asked: Access = route.access): Access {
  if (asked === "public" && route.access === "private")
    throw invalid("access", `must be private: the file route "${route.slug}" accepts only private files`);
  return asked;
}

export function checkSize(route: FileRouteRow, tier: TierName, sizeBytes: number): void {
  const limit = sizeLimit(route, tier);
  if (sizeBytes <= limit) return;
  const help = limit < TIERS[tier].maxFileSizeBytes ? raiseRoute : higherTierThan(tier);
  throw tooLarge(sizeBytes, limit, { suggestion: `Send a smaller file${help}.` });
}

/** The largest file that a route takes. */
export function sizeLimit(route: FileRouteRow, tier: TierName): number {
  const ofTier = TIERS[tier].maxFileSizeBytes;
  return Math.min(route.max_file_size_bytes ?? ofTier, ofTier);
}

export function tooLarge(sizeBytes: number, limit: number, options: AppErrorOptions): AppError {
  const message = `The file has ${sizeBytes} bytes; at most ${limit} are allowed here.`;
  return new AppError("TIER_LIMIT_EXCEEDED", message, { suggestion: "Send a smaller file.", ...options });
}

const raiseRoute = ", or raise the route's maxFileSize";
const higherTierThan = (tier: TierName) => (tier === "enterprise" ? "" : `, or ${raiseTier}`);

/** Buckets accept no larger PUT. */
export function checkFitsPut(sizeBytes: number, maxPutBytes: number): void {
  if (sizeBytes <= maxPutBytes) return;
  throw invalid(
    "fileSize",
    `is over the ${maxPutBytes / GB} GiB that this storage accepts in one piece; use /upload/multipart/init`,
    "Start the upload with POST /upload/multipart/init instead.",
  );
}

export function checkNeedsMultipart(sizeBytes: number): void {
  if (sizeBytes > MULTIPART_THRESHOLD_BYTES) return;
  throw new AppError("FILE_TOO_SMALL_FOR_MULTIPART", "Multipart uploads are for files over 10 MB.", {
    suggestion: "Use /upload/request for this file.",
  });
}

export function partCount(sizeBytes: number): number {
  return Math.ceil(sizeBytes / PART_SIZE_BYTES);
}

/** A client may use a subset of its part numbers, in ascending order, each once. */
export function checkPartOrder(parts: readonly { partNumber: number }[]): void {
  if (parts.length === 0) throw invalid("parts", "must list at least one part");
  for (const [i, { partNumber }] of parts.entries()) {
    const previous = parts[i - 1]?.partNumber;
    if (previous === undefined || partNumber > previous) continue;
    const isRepeated = partNumber === previous;
    throw invalid("parts", isRepeated ? `lists part ${previous} twice` : "must be in ascending order");
  }
}

/** Or a small upload could ask for the signatures of a large one. */
export function checkPartsOnce(partNumbers: readonly number[]): void {
  const seen = new Set<number>();
  for (const number of partNumbers) {
    if (seen.has(number)) throw invalid("partNumbers", `lists part ${number} twice`);
    seen.add(number);
  }
}

export function checkPartRange(field: string, partNumbers: readonly number[], sizeBytes: number): void {
  const last = partCount(sizeBytes);
  const outside = partNumbers.find((number) => number < 1 || number > last);
  if (outside !== undefined)
    throw invalid(field, `lists part ${outside}; this upload has parts 1 to ${last}`);
}

const hourMs = 3_600_000;
const singleIdleMs = 24 * hourMs;
const multipartIdleMs = 7 * 24 * hourMs;

/** When an upload that grows append by append is given up unless it receives more. */
export function expiresAt(upload: { offset_bytes: number; touched_at: number }): number {
  const { offset_bytes, touched_at } = upload;
  return touched_at + (offset_bytes === 0 ? emptyLifeMs(ARRIVAL_SEC) : RESUMABLE_IDLE_SEC * 1000);
}

/** How long an upload through another door than the JSON API stays open before its first byte. */
export const ARRIVAL_SEC = PART_URL_SEC;

/** How long after a URL's expiry an upload that sent nothing counts as abandoned. */
const graceMs = 5 * 60 * 1000;

/** How long an upload that sent nothing stays open after its URLs were signed. */
export function emptyLifeMs(urlSec: number): number {
  return urlSec * 1000 + graceMs;
}

/** How long an upload that sent something stays open after its last activity. */
function idleLifeMs(file: FileRow): number {
  return file.upload_id === null ? singleIdleMs : multipartIdleMs;
}

/** How long an upload whose URLs have expired may continue; null if it shows no activity. */
export async function findOpenUntil(deps: Deps, file: FileRow): Promise<number | null> {
  // A slow upload is not abandoned, but is checked again soon, because it may still fail.
  if ((await deps.stores.get(file.store)).arrivals?.isArriving(objectKey(file))) return deps.now() + graceMs;
  const activity = file.upload_id === null ? null : await deps.db.get(findActivity, { fileId: file.id });
  if (activity !== null) return Math.max(expiresAt(activity), activity.lease_until);
  const lastReceived = await findLastReceived(deps, file);
  return lastReceived === null ? null : lastReceived + idleLifeMs(file);
}

/** When bytes last arrived; null if none did. */
async function findLastReceived(deps: Deps, file: FileRow): Promise<number | null> {
  const store = await deps.stores.get(file.store);
  if (file.upload_id === null) return (await store.findReceived(objectKey(file)))?.receivedAt ?? null;
  const parts = await store.listParts({ key: objectKey(file), uploadId: file.upload_id });
  // The store may have assembled them without the row knowing.
  if (parts === null) return (await store.findReceived(objectKey(file)))?.receivedAt ?? null;
  return parts.length === 0 ? null : Math.max(...parts.map((part) => part.receivedAt));
}

/** Extends the upload so that new URLs can be used. False if it lasts longer anyway, or has ended meanwhile. */
export async function keepOpen(deps: Deps, file: FileRow, urlSec: number): Promise<boolean> {
  const isEmpty = (await findLastReceived(deps, file)) === null;
  const lifeMs = isEmpty ? emptyLifeMs(urlSec) : idleLifeMs(file);
  return (await deps.db.run(postponeReaping, { id: file.id, reapAt: deps.now() + lifeMs })) > 0;
}

/** The text to store. `{}` itself has depth 1. */
export function serialiseMetadata(metadata: Record<string, unknown>): string {
  if (depthExceeds(metadata, METADATA_MAX_DEPTH)) {
    throw invalid("metadata", `must not be nested deeper than ${METADATA_MAX_DEPTH}`);
  }
  const text = JSON.stringify(metadata);
  if (Buffer.byteLength(text) > METADATA_MAX_BYTES) {
    throw invalid("metadata", `must not be larger than ${METADATA_MAX_BYTES / 1024} KiB`);
  }
  return text;
}

function depthExceeds(value: unknown, allowed: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return allowed === 0 || Object.values(value).some((item) => depthExceeds(item, allowed - 1));
}
