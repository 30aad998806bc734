import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";

/** Reuses the buffers of sent chunks for the next reads. */
interface ChunkMemory {
  take(length: number): Buffer;
  giveBack(chunk: Buffer): void;
}

const mostSpareBytes = 16 * 1024 * 1024;

/**
 * Allocating every chunk keeps the garbage collector busier than the disk, and V8 lets garbage accumulate, because it
 * underestimates the size of buffers.
 */
export function createChunkMemory(): ChunkMemory {
  const spare: Buffer[] = [];
  /** A buffer may be returned only once: otherwise two readers would share it and see each other's bytes. */
  const taken = new WeakSet<ArrayBufferLike>();
  let spareBytes = 0;

  return {
    take(length) {
      // A stalled reader keeps its buffer, so no one gets a far larger one than requested.
      const at = spare.findIndex((buffer) => buffer.length >= length && buffer.length <= 2 * length);
      const [found] = at === -1 ? [] : spare.splice(at, 1);
      spareBytes -= found?.length ?? 0;
      const buffer = found ?? Buffer.allocUnsafeSlow(length);
      taken.add(buffer.buffer);
      return buffer.subarray(0, length);
    },

    giveBack(chunk) {
      if (!taken.delete(chunk.buffer)) return;
      // The whole buffer, of which the chunk may be a part.
      const whole = Buffer.from(chunk.buffer);
      spare.unshift(whole);
      spareBytes += whole.length;
      // Drop the oldest, because sizes change.
      while (spareBytes > mostSpareBytes) spareBytes -= spare.pop()?.length ?? 0;
    },
  };
}

/** A range of one blob. */
export interface Stretch {
  blob: string;
  /** Size of the whole blob. */
  sizeBytes: number;
  start: number;
  /** Exclusive. */
  end: number;
}

/** Each chunk may be twice as long as the previous one, so a reader that stalls early holds two short ones. */
const firstChunkBytes = 64 * 1024;

export type OpenBlob = (stretch: Stretch) => Promise<FileHandle>;

/** Streams ranges of blobs one after another, without visible seams between parts. */
export class SegmentStream extends Readable {
  readonly #stretches: Stretch[];
  readonly #openBlob: OpenBlob;
  readonly #chunkBytes: () => number;
  readonly #memory: ChunkMemory;
  #file: FileHandle | null;
  #position: number;
  #grownBytes = firstChunkBytes;

  /** `file` is the first range's blob, already open. */
  constructor(
    file: FileHandle,
    stretches: Stretch[],
    openBlob: OpenBlob,
    memory: ChunkMemory,
    chunkBytes: () => number,
  ) {
    // One chunk ahead of the reader, whatever its size.
    super({ highWaterMark: 1 });
    this.#file = file;
    this.#stretches = stretches;
    this.#position = stretches[0]?.start ?? 0;
    this.#openBlob = openBlob;
    this.#memory = memory;
    this.#chunkBytes = chunkBytes;
  }

  override _read(): void {
    this.#readChunk().then(
      (chunk) => this.push(chunk),
      (error) => this.destroy(error),
    );
  }

  async #readChunk(): Promise<Buffer | null> {
    const stretch = await this.#currentStretch();
    if (stretch === null || this.#file === null) return null;
    const length = Math.min(this.#grownBytes, this.#chunkBytes(), stretch.end - this.#position);
    this.#grownBytes *= 2;
    const buffer = this.#memory.take(length);
    const { bytesRead } = await this.#file.read(buffer, 0, length, this.#position);
    if (bytesRead === 0) throw new Error(`blob ${stretch.blob} ended early`);
    this.#position += bytesRead;
    return bytesRead === length ? buffer : buffer.subarray(0, bytesRead);
  }

  /** Reuses the memory of a sent chunk for the next one. */
  recycle(chunk: Buffer): void {
    this.#memory.giveBack(chunk);
  }

  async #currentStretch(): Promise<Stretch | null> {
    const [current] = this.#stretches;
    if (current !== undefined && this.#position < current.end) return current;
    this.#stretches.shift();
    await this.#closeFile();
    const [next] = this.#stretches;
    if (next === undefined) return null;
    const file = await this.#openBlob(next);
    this.#file = file;
    this.#position = next.start;
    // A reader that stopped while the file was being opened has closed everything open at that time.
    if (this.destroyed) await this.#closeFile();
    return next;
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#closeFile().then(
      () => callback(error),
      (closeError) => callback(error ?? closeError),
    );
  }
}
