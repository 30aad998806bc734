/** Reads bytes `start` to `start + length - 1`, which the source has. */
export type ReadBytes = (start: number, length: number) => Promise<Buffer>;

/** A header's contents; `unknown` if it is beyond the part of a file that is read. */
export type PixelCount = number | "damaged" | "unknown";

const firstBytes = 64 * 1024;
const laterBytes = 256 * 1024;
const mostReads = 4;

/** A source read in a few pieces, less than a megabyte in total, wherever its headers point. */
export interface ByteWindow {
  /** Bytes starting at `at`: "end" if the source is shorter, "unknown" once the read limit is reached. */
  get(at: number, length: number): Promise<Buffer | "end" | "unknown">;
  /** The same for bytes already read; null for anything else. */
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
