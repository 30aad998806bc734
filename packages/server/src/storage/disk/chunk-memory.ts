/** Buffers of chunks that have been sent, for the next chunks to be read. */
export interface ChunkMemory {
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
