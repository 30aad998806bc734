import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";

/** Buffers of chunks that have been sent, for the next chunks to be read. */
interface ChunkMemory {
  take(length: number): Buffer;
  giveBack(chunk: Buffer): void;
}

const mostSpareBytes = 16 * 1024 * 1024;

/**
 * New memory for every chunk keeps the garbage collector busier than the disk, and V8 lets it pile up: buffers weigh
 * little in its eyes.
 */
export function createChunkMemory(): ChunkMemory {
  const spare: Buffer[] = [];
  /** Given back once only, and nothing else: otherwise two readers would share it, and see each other's bytes. */
  const taken = new WeakSet<ArrayBufferLike>();
  let spareBytes = 0;

  return {
    take(length) {
      // A reader that stalls keeps what it took, so that none gets far more than it asked for.
      const at = spare.findIndex((buffer) => buffer.length >= length && buffer.length <= 2 * length);
      const [found] = at === -1 ? [] : spare.splice(at, 1);
      spareBytes -= found?.length ?? 0;
      const buffer = found ?? Buffer.allocUnsafeSlow(length);
      taken.add(buffer.buffer);
      return buffer.subarray(0, length);
    },

    giveBack(chunk) {
      if (!taken.delete(chunk.buffer)) return;
      // All of its memory, of which the chunk may be a part.
      const whole = Buffer.from(chunk.buffer);
      spare.unshift(whole);
      spareBytes += whole.length;
      // The oldest go, because sizes change.
      while (spareBytes > mostSpareBytes) spareBytes -= spare.pop()?.length ?? 0;
    },
  };
}

/** A stretch of one blob. */
export interface Stretch {
  blob: string;
  /** Of the whole blob. */
  sizeBytes: number;
  start: number;
  /** Excluded. */
  end: number;
}

/** Each chunk may be twice as long as the one before: a reader that takes nothing holds two short ones. */
const firstChunkBytes = 64 * 1024;

export type OpenBlob = (stretch: Stretch) => Promise<FileHandle>;

/** Streams stretches of blobs one after another, so that the seams between parts cannot be seen. */
export class SegmentStream extends Readable {
  readonly #stretches: Stretch[];
  readonly #openBlob: OpenBlob;
  readonly #chunkBytes: () => number;
  readonly #memory: ChunkMemory;
  #file: FileHandle | null;
  #position: number;
  #grownBytes = firstChunkBytes;

  /** `file` is the first stretch's blob, already open. */
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

  /** Memory of a chunk that was read and sent serves the next one. */
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
    // Whoever stopped reading while the file was being opened has closed all that was open then.
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
