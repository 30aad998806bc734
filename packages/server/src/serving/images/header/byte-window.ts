/** Reads bytes `start` to `start + length - 1`, which the source has. */
export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

/** What a header says; `unknown` where it lies beyond what is read of a file. */
export type PixelCount = number | "damaged" | "unknown";

const firstBytes = 64 * 1024;
const laterBytes = 256 * 1024;
const mostReads = 4;

/** A source that is read in a few pieces, less than a megabyte in all, however its headers lead through it. */
export interface ByteWindow {
  /** So many bytes from `at` on: "end" where the source is shorter, "unknown" once enough was read. */
  get(at: number, length: number): Promise<Buffer | "end" | "unknown">;
  /** The same for what was read already; null for anything else. */
  peek(at: number, length: number): Buffer | null;
}

export function createByteWindow(read: ReadBytes, sizeBytes: number): ByteWindow {
  let start = 0;
  let bytes: Buffer = Buffer.alloc(0);
  let reads = 0;

  function peek(at: number, length: number): Buffer | null {
    const from = at - start;
    return from >= 0 && from + length <= bytes.length ? bytes.subarray(from, from + length) : null;
  }

  return {
    peek,
    async get(at, length) {
      if (at + length > sizeBytes) return "end";
      const known = peek(at, length);
      if (known !== null) return known;
      if (reads === mostReads || length > laterBytes) return "unknown";
      const wanted = reads === 0 ? firstBytes : laterBytes;
      reads++;
      bytes = await read(at, Math.min(wanted, sizeBytes - at));
      start = at;
      return peek(at, length) ?? "end";
    },
  };
}
