import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { FreeSpace } from "./free-space.ts";

export interface BodyWriter {
  /** Accepts a chunk; if it returns a promise, wait for it before the next one. */
  push(chunk: Buffer): Promise<void> | null;
  /** Writes the rest. The bytes are then in the kernel, not yet on disk. */
  finish(): Promise<{ sizeBytes: number; sha256: string }>;
}

/** Syncs while the body is still arriving, so that the last fsync has little left to do. */
const syncEveryBytes = 16 * 1024 * 1024;

/** Tiny network packets must not accumulate as a million small objects in memory. */
const mostChunks = 256;

export interface BodyWriterOptions {
  batchBytes: () => number;
  space: FreeSpace;
  /** Whether no one else reads the chunks after they are written. */
  isOwned: boolean;
}

/**
 * Collects chunks into large writes. One batch is written while the next is received, so a body uses at most two
 * batches of memory.
 */
export function createBodyWriter(
  file: FileHandle,
  { batchBytes, space, isOwned }: BodyWriterOptions,
): BodyWriter {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  let batch: Buffer[] = [];
  let batched = 0;
  let writing: Promise<void> | null = null;
  let unsyncedBytes = 0;
  /** A failed sync is reported once only, so this promise is kept and never replaced before it was awaited. */
  let syncing: Promise<void> | null = null;

  async function write(chunks: Buffer[], byteCount: number): Promise<void> {
    await space.checkFloor();
    await writeWhole(file, chunks);
    if (isOwned) chunks.forEach(freeMemory);
    unsyncedBytes += byteCount;
    if (unsyncedBytes < syncEveryBytes) return;
    await syncing;
    unsyncedBytes = 0;
    syncing = file.datasync();
    syncing.catch(() => {});
  }

  function startWriting(): void {
    writing = write(batch, batched);
    // The next wait for this batch reports a failure; until then it must not count as unhandled.
    writing.catch(() => {});
    batch = [];
    batched = 0;
  }

  return {
    push(chunk) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      batch.push(chunk);
      batched += chunk.length;
      if (batched < batchBytes() && batch.length < mostChunks) return null;
      if (writing !== null) return writing.then(startWriting);
      startWriting();
      return null;
    },
    async finish() {
      await writing;
      if (batched > 0) {
        startWriting();
        await writing;
      }
      await syncing;
      return { sizeBytes, sha256: hash.digest("hex") };
    },
  };
}

/** A nearly full disk accepts part of a write without an error; only the next write reports that it is full. */
async function writeWhole(file: FileHandle, chunks: Buffer[]): Promise<void> {
  let rest = chunks;
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest);
    if (bytesWritten === 0)
      throw Object.assign(new Error("the disk accepted no bytes"), { code: "ENOSPC", syscall: "writev" });
    rest = skipBytes(rest, bytesWritten);
  }
}

function skipBytes(chunks: Buffer[], count: number): Buffer[] {
  let skipped = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (skipped + chunk.length > count) return [chunk.subarray(count - skipped), ...chunks.slice(index + 1)];
    skipped += chunk.length;
  }
  return [];
}

/** Freed immediately, because finding these chunks would cost the garbage collector 25% of an upload. */
function freeMemory(chunk: Buffer): void {
  const { buffer } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.length) buffer.transfer(0);
}

interface MinimumRate {
  bytesPerSec: number;
  windowMs: number;
}

interface WatchedBody {
  receivedBytes: number;
  /** True while we, not the client, delay the body. */
  heldUp: boolean;
}

const samplesPerWindow = 20;

/**
 * Aborts bodies below the minimum rate over a sliding window. There is no total limit: a slow but honest upload may
 * take hours.
 */
export function createRateWatch(minimum: MinimumRate, onCut: () => void = () => {}) {
  const leastBytes = (minimum.bytesPerSec * minimum.windowMs) / 1000;
  const watched = new Map<WatchedBody, { samples: number[]; cut: () => void }>();
  let timer: NodeJS.Timeout | null = null;

  function look(): void {
    for (const [body, { samples, cut }] of watched) {
      if (body.heldUp) samples.length = 0;
      samples.push(body.receivedBytes);
      if (samples.length <= samplesPerWindow) continue;
      const before = samples.shift() ?? 0;
      if (body.receivedBytes - before >= leastBytes) continue;
      // Aborting takes a moment, and counts once.
      watched.delete(body);
      onCut();
      cut();
    }
  }

  return {
    /** Returns a function that stops watching. */
    watch(body: WatchedBody, cut: () => void): () => void {
      watched.set(body, { samples: [], cut });
      timer ??= setInterval(look, minimum.windowMs / samplesPerWindow).unref();
      return () => {
        watched.delete(body);
        if (watched.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}

export type RateWatch = ReturnType<typeof createRateWatch>;
