import { hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Queryable } from "../../db/database.ts";
import type { ByteRange, ObjectBytes } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { isRowName } from "./blob-name.ts";
import { BlobDamaged, explainDiskError, hasCode, type ReportDamage } from "./damage.ts";
import type { Segment } from "./part-records.ts";
import { createChunkMemory, SegmentStream, type Stretch } from "./segment-stream.ts";
import { getSmallBlob } from "./small-blobs.ts";

export interface BlobReader {
  /** The bytes of a range over segments that cover it. Throws `BlobDamaged`. */
  read(segments: Segment[], range: ByteRange, signal?: AbortSignal): Promise<ObjectBytes>;
  /** Throws `BlobDamaged` if the file is missing or has the wrong size. */
  checkSize(blob: string, sizeBytes: number): Promise<void>;
}

/**
 * Up to here a blob is read whole and checked before its first byte is sent. Most images for a page are smaller, and
 * from memory they cost half the CPU of a stream.
 */
export const smallBytes = 128 * 1024;
const largestChunk = 1024 * 1024;
const smallestChunk = 64 * 1024;
/** For all streams together; each uses up to two chunks. */
const memoryBytes = 32 * 1024 * 1024;

export function createBlobReader(
  db: Queryable,
  files: BlobFiles,
  cache: BlobCache,
  report: ReportDamage,
): BlobReader {
  const memory = createChunkMemory();
  let active = 0;
  const chunkBytes = () =>
    Math.floor(Math.min(largestChunk, Math.max(smallestChunk, memoryBytes / (2 * active))));

  async function openSound(stretch: { blob: string; sizeBytes: number }): Promise<FileHandle> {
    let file: FileHandle;
    try {
      file = await open(files.pathOf(stretch.blob), "r");
    } catch (error) {
      if (hasCode(error, "ENOENT")) throw new BlobDamaged(stretch.blob, "missing", { cause: error });
      throw explainDiskError(error);
    }
    const { size } = await file.stat();
    if (size === stretch.sizeBytes) return file;
    await file.close();
    throw new BlobDamaged(stretch.blob, "wrong-size");
  }

  async function readSmall(segment: Segment): Promise<Buffer> {
    const cached = cache.find(segment.blob);
    if (cached !== null) return cached;
    const bytes = await (isRowName(segment.blob) ? getSmallBlob(db, segment.blob) : readFile(segment));
    if (hash("sha256", bytes) !== segment.sha256) throw new BlobDamaged(segment.blob, "wrong-checksum");
    cache.keep(segment.blob, bytes);
    return bytes;
  }

  async function readFile(segment: Segment): Promise<Buffer> {
    await using file = await openSound(segment);
    return await file.readFile();
  }

  async function openStream(stretches: Stretch[], signal: AbortSignal | undefined): Promise<Readable> {
    const [first, ...later] = stretches;
    if (first === undefined) return Readable.from([]);
    // A reader that has started gets the whole object, even if it is deleted meanwhile, as with an open file.
    const leave = files.keepFor(later.map(({ blob }) => blob));
    const file = await openSound(first).catch((error) => {
      leave();
      throw error;
    });
    active++;
    // A damaged later part ends the stream with an error, so that the reader does not consider it complete.
    const openNext = (stretch: Stretch) =>
      openSound(stretch).catch(async (error) => {
        if (error instanceof BlobDamaged) await report(error);
        throw error;
      });
    const stream = new SegmentStream(file, stretches, openNext, memory, chunkBytes);
    stream.once("close", () => {
      active--;
      leave();
    });
    // A reader that hung up while the file was being opened gets no further event.
    if (signal?.aborted === true) stream.destroy();
    else signal?.addEventListener("abort", () => stream.destroy(), { once: true });
    return stream;
  }

  return {
    async read(segments, range, signal) {
      signal?.throwIfAborted();
      const [only] = segments;
      if (segments.length === 1 && only !== undefined && only.sizeBytes <= smallBytes) {
        const bytes = await readSmall(only);
        return bytes.subarray(range.start - only.startByte, range.end + 1 - only.startByte);
      }
      const stretches = segments.map((segment) => ({
        blob: segment.blob,
        sizeBytes: segment.sizeBytes,
        start: Math.max(0, range.start - segment.startByte),
        end: Math.min(segment.sizeBytes, range.end + 1 - segment.startByte),
      }));
      return openStream(stretches, signal);
    },
    async checkSize(blob, sizeBytes) {
      const file = await openSound({ blob, sizeBytes });
      await file.close();
    },
  };
}

/** An LRU cache of small blobs. Blobs never change, so nothing goes stale. */
export function createBlobCache(capacityBytes: number) {
  const blobs = new Map<string, Buffer>();
  let heldBytes = 0;

  return {
    find(blob: string): Buffer | null {
      const bytes = blobs.get(blob);
      if (bytes === undefined) return null;
      blobs.delete(blob);
      blobs.set(blob, bytes);
      return bytes;
    },
    keep(blob: string, bytes: Buffer): void {
      if (blobs.has(blob) || bytes.length > capacityBytes) return;
      blobs.set(blob, bytes);
      heldBytes += bytes.length;
      for (const [oldest, old] of blobs) {
        if (heldBytes <= capacityBytes) return;
        blobs.delete(oldest);
        heldBytes -= old.length;
      }
    },
  };
}

type BlobCache = ReturnType<typeof createBlobCache>;
