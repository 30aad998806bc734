import type { S3Client } from "./s3-client.ts";
import { hasCode, isMissing, isStatus } from "./s3-error.ts";

export interface Copy {
  fromKey: string;
  toKey: string;
  sizeBytes: number;
  /** Of the source, which must still have it. */
  etag: string;
  contentType: string;
  contentDisposition?: string;
}

/** "conflict": the source is another one by now, or the target exists. */
export type CopyObject = (copy: Copy) => Promise<{ etag: string } | "conflict">;

export interface CopyOptions {
  /** Larger objects are copied in pieces of this size: side by side, and none of them for minutes. */
  pieceBytes: number;
  /** Cloudflare has a header of its own for it. */
  guardHeader: string;
}

const concurrency = 4;
const baseDeadlineMs = 20_000;
const slowestBytesPerMs = 10_000;

export function createCopyObject(client: S3Client, options: CopyOptions): CopyObject {
  const { pieceBytes, guardHeader } = options;
  let isGuarded = true;

  async function attempt(copy: Copy, guard: Record<string, string>): Promise<{ etag: string } | "conflict"> {
    const deadlineMs = baseDeadlineMs + copy.sizeBytes / slowestBytesPerMs;
    try {
      return await (copy.sizeBytes > pieceBytes
        ? copyInPieces(client, copy, pieceBytes, guard)
        : client.objects.copy({ ...copy, guard, deadlineMs }));
    } catch (error) {
      if (isConflict(error)) return "conflict";
      throw error;
    }
  }

  return async (copy) => {
    if (isGuarded) {
      try {
        return await attempt(copy, { [guardHeader]: "*" });
      } catch (error) {
        if (!isUnknownGuard(error)) throw error;
      }
    }
    // A store that does not know how to copy only to where nothing is. The caller has looked a moment ago.
    const copied = await attempt(copy, {});
    if (copied !== "conflict") isGuarded = false;
    return copied;
  };
}

/** Not any 400: one that passes would leave all later copies without a guard. */
function isUnknownGuard(error: unknown): boolean {
  return (
    isStatus(error, 501) ||
    (isStatus(error, 400) && hasCode(error, "NotImplemented", "InvalidArgument", "InvalidRequest"))
  );
}

/**
 * Swift calls the bucket missing where the source was deleted while it copied. Whoever looks again sees which of them
 * it is.
 */
function isConflict(error: unknown): boolean {
  return (
    isStatus(error, 412) || isMissing(error) || hasCode(error, "ConditionalRequestConflict", "NoSuchBucket")
  );
}

async function copyInPieces(
  { multipart, objects }: S3Client,
  copy: Copy,
  pieceBytes: number,
  guard: Record<string, string>,
) {
  const { fromKey, toKey, sizeBytes, etag } = copy;
  const uploadId = await multipart.create(toKey, copy);
  const upload = { key: toKey, uploadId };
  const pieces = Array.from({ length: Math.ceil(sizeBytes / pieceBytes) }, (_, index) => ({
    partNumber: index + 1,
    range: { start: index * pieceBytes, end: Math.min(sizeBytes, (index + 1) * pieceBytes) - 1 },
  }));
  const parts: { partNumber: number; etag: string }[] = [];
  const waiting = pieces.values();
  const deadlineMs = baseDeadlineMs + pieceBytes / slowestBytesPerMs;
  const work = async () => {
    for (const piece of waiting) {
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
  return { etag: head?.etag ?? "" };
}
