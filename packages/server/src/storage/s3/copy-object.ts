import { mostParts } from "./bucket-values.ts";
import type { S3Client } from "./s3-client.ts";
import { hasS3Code, isMissing, isStatus, S3Error } from "./s3-error.ts";

export interface Copy {
  fromKey: string;
  toKey: string;
  sizeBytes: number;
  /** The source's etag, which must still match. Null to copy whatever is there. */
  etag: string | null;
  contentType: string;
  contentDisposition?: string;
}

/** "conflict": the source has changed, or the target exists. */
export type CopyObject = (client: S3Client, copy: Copy) => Promise<{ etag: string } | "conflict">;

export interface CopyOptions {
  /** Larger objects are copied concurrently in pieces of this size, so that none takes minutes. */
  pieceBytes: number;
  /** Cloudflare uses its own header for it. */
  guardHeader: string;
}

const concurrency = 4;
const baseDeadlineMs = 20_000;
const slowestBytesPerMs = 10_000;

/** How long a single-request copy may take. */
export const copyDeadlineOf = (sizeBytes: number) => baseDeadlineMs + sizeBytes / slowestBytesPerMs;

export function createCopyObject({ pieceBytes, guardHeader }: CopyOptions): CopyObject {
  let isGuarded = true;

  async function attempt(client: S3Client, copy: Copy, guard: Record<string, string>) {
    const deadlineMs = copyDeadlineOf(copy.sizeBytes);
    const attemptOnce = (wanted: Copy) =>
      copy.sizeBytes > pieceBytes
        ? copyInPieces(client, wanted, pieceBytes, guard)
        : client.objects.copy({ ...wanted, guard, deadlineMs });
    try {
      return await attemptOnce(copy).catch(async (error: unknown) => {
        if (!isStatus(error, 412) || !(await isMisjudged(client, copy))) throw error;
        return attemptOnce({ ...copy, etag: null });
      });
    } catch (error) {
      if (isConflict(error)) return "conflict" as const;
      throw error;
    }
  }

  return async (client, copy) => {
    if (isGuarded) {
      try {
        return await attempt(client, copy, { [guardHeader]: "*" });
      } catch (error) {
        if (!isUnknownGuard(error)) throw error;
      }
    }
    // A store without conditional copies. The caller has just checked that the target is free.
    const copied = await attempt(client, copy, {});
    if (copied !== "conflict") isGuarded = false;
    return copied;
  };
}

/**
 * Swift shows one etag for an object made of parts, and compares copies of it with another. Such an object never
 * changes: the names that clients can write to again have objects of one PUT.
 */
async function isMisjudged({ objects }: S3Client, { fromKey, toKey, etag }: Copy): Promise<boolean> {
  if (etag === null || !/-\d+$/.test(etag) || (await objects.findHead(toKey)) !== null) return false;
  return (await objects.findHead(fromKey))?.etag === etag;
}

/** Not any 400, because a temporary one would leave all later copies unguarded. */
function isUnknownGuard(error: unknown): boolean {
  return (
    isStatus(error, 501) ||
    (isStatus(error, 400) && hasS3Code(error, "NotImplemented", "InvalidArgument", "InvalidRequest"))
  );
}

/**
 * Swift reports the bucket as missing if the source was deleted during the copy. Checking again shows which of them
 * it is.
 */
function isConflict(error: unknown): boolean {
  return (
    isStatus(error, 412) || isMissing(error) || hasS3Code(error, "ConditionalRequestConflict", "NoSuchBucket")
  );
}

async function copyInPieces(
  { multipart, objects }: S3Client,
  copy: Copy,
  pieceBytes: number,
  guard: Record<string, string>,
) {
  const { fromKey, toKey, etag } = copy;
  const uploadId = await multipart.create(toKey, copy);
  const upload = { key: toKey, uploadId };
  const parts: { partNumber: number; etag: string }[] = [];
  const waiting = listPieces(copy.sizeBytes, pieceBytes);
  const work = async () => {
    for (const piece of waiting) {
      const deadlineMs = copyDeadlineOf(piece.range.end - piece.range.start);
      const copied = await multipart.copyPart({ ...upload, ...piece, fromKey, etag, deadlineMs });
      parts.push({ partNumber: piece.partNumber, etag: copied.etag });
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, work));
    parts.sort((a, b) => a.partNumber - b.partNumber);
    await multipart.complete({ ...upload, parts, guard });
  } catch (error) {
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
  const head = await objects.findHead(toKey);
  if (head === null) throw new S3Error(502, "", "the copied object is missing");
  return { etag: head.etag };
}

/** One at a time, and never more than the maximum number of parts, whatever the size. */
function* listPieces(sizeBytes: number, usualBytes: number) {
  const pieceBytes = Math.max(usualBytes, Math.ceil(sizeBytes / mostParts));
  for (let [partNumber, start] = [1, 0]; start < sizeBytes; partNumber++, start += pieceBytes)
    yield { partNumber, range: { start, end: Math.min(sizeBytes, start + pieceBytes) - 1 } };
}
