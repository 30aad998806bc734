import { GB, MULTIPART_THRESHOLD_BYTES, PART_SIZE_BYTES, TIERS, type TierName } from "@upstow/contract";
import type { FileRouteTable } from "../../db/schema.ts";
import { AppError, invalid } from "../../kernel/errors.ts";

/** Ignores case and parameters; an empty list allows every type. */
export function isAllowedType(allowedTypes: readonly string[], contentType: string): boolean {
  if (allowedTypes.length === 0) return true;
  const type = mediaType(contentType);
  const family = `${type.split("/", 1)[0]}/*`;
  return allowedTypes.some((entry) => ["*/*", family, type].includes(entry.toLowerCase()));
}

export function mediaType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

export function checkType(route: FileRouteTable, contentType: string): void {
  const allowedTypes: string[] = JSON.parse(route.allowed_types);
  if (isAllowedType(allowedTypes, contentType)) return;
  throw new AppError(
    "INVALID_FILE_TYPE",
    `The file route "${route.slug}" does not accept ${mediaType(contentType)}.`,
    { suggestion: `Accepted: ${allowedTypes.join(", ")}.` },
  );
}

export function checkSize(route: FileRouteTable, tier: TierName, sizeBytes: number): void {
  const limit = Math.min(route.max_file_size_bytes ?? Number.MAX_SAFE_INTEGER, TIERS[tier].maxFileSizeBytes);
  if (sizeBytes <= limit) return;
  throw new AppError(
    "TIER_LIMIT_EXCEEDED",
    `The file has ${sizeBytes} bytes; at most ${limit} are allowed here.`,
    {
      suggestion: "Send a smaller file, raise the route's maxFileSize, or move to a larger tier.",
    },
  );
}

/** Buckets take no larger PUT. */
export function checkFitsPut(sizeBytes: number, maxPutBytes: number): void {
  if (sizeBytes <= maxPutBytes) return;
  throw invalid(
    "fileSize",
    `is over the ${maxPutBytes / GB} GiB that this storage takes in one piece; use /upload/multipart/init`,
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

/** A client may use fewer of the numbers it was given, in ascending order, each once. */
export function checkPartOrder(parts: readonly { partNumber: number }[]): void {
  if (parts.length === 0) throw invalid("parts", "must name at least one part");
  for (const [i, { partNumber }] of parts.entries()) {
    const previous = parts[i - 1]?.partNumber;
    if (previous === undefined || partNumber > previous) continue;
    const isRepeated = partNumber === previous;
    throw invalid("parts", isRepeated ? `names part ${previous} twice` : "must be in ascending order");
  }
}

export function checkPartRange(field: string, partNumbers: readonly number[], sizeBytes: number): void {
  const last = partCount(sizeBytes);
  const outside = partNumbers.find((number) => number < 1 || number > last);
  if (outside !== undefined)
    throw invalid(field, `names part ${outside}; this upload has parts 1 to ${last}`);
}
