import { UpstowError } from "../errors.ts";
import type { PutBody } from "../transfer/put.ts";

export type UploadSource =
  /** A path or a `file:` URL. */
  string | URL | Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Bytes that are read in ascending ranges, several at once. */
export interface ByteSource {
  sizeBytes: number;
  name?: string | undefined;
  type?: string | undefined;
  read(start: number, end: number): Promise<PutBody>;
  close?(): Promise<void>;
}

// The service must hear the size first: a stream that cannot say it is held in memory up to here.
const mostBufferedBytes = 64 * 1024 * 1024;

export async function openSource(source: UploadSource, sizeBytes: number | undefined): Promise<ByteSource> {
  if (typeof source === "string" || source instanceof URL) {
    return (await import("./file-source.ts")).openFile(source);
  }
  if (source instanceof Blob) return fromBlob(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return fromBlob(new Blob([source as ArrayBuffer]));
  }
  const chunks = chunksOf(source);
  return sizeBytes === undefined ? fromBlob(await collect(chunks)) : fromStream(chunks, sizeBytes);
}

function fromBlob(blob: Blob): ByteSource {
  const { name } = blob as { name?: string };
  return {
    sizeBytes: blob.size,
    name,
    type: blob.type || undefined,
    read: async (start, end) => blob.slice(start, end),
  };
}

/** A stream is taken at once: the body of a Response that nobody holds any more is thrown away unless it is. */
function chunksOf(source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array> {
  if (!("getReader" in source)) return source[Symbol.asyncIterator]();
  const reader = source.getReader();
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array>>,
    return: async (value) => {
      await reader.cancel();
      return { done: true, value };
    },
  };
}

async function collect(chunks: AsyncIterator<Uint8Array>): Promise<Blob> {
  const kept: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    sizeBytes += next.value.byteLength;
    if (sizeBytes > mostBufferedBytes) {
      chunks.return?.().catch(() => {});
      throw new UpstowError("A stream of more than 64 MB needs the option size.", {
        code: "VALIDATION_ERROR",
      });
    }
    kept.push(new Uint8Array(next.value));
  }
  return new Blob(kept);
}

/** Reads one part after the other; a part stays in memory until it has arrived. */
function fromStream(chunks: AsyncIterator<Uint8Array>, sizeBytes: number): ByteSource {
  let rest = new Uint8Array(0);
  let position = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** The next bytes, at most this many. */
  async function take(wanted: number): Promise<Uint8Array> {
    while (rest.byteLength === 0) {
      const next = await chunks.next();
      if (next.done) throw wrongSize(sizeBytes);
      rest = new Uint8Array(next.value);
    }
    const taken = rest.subarray(0, wanted);
    rest = rest.subarray(taken.byteLength);
    position += taken.byteLength;
    return taken;
  }

  async function readNext(start: number, end: number): Promise<PutBody> {
    while (position < start) await take(start - position);
    const bytes = new Uint8Array(end - start);
    while (position < end) {
      const at = position - start;
      bytes.set(await take(end - position), at);
    }
    const isLonger =
      end === sizeBytes && (rest.byteLength > 0 || (await chunks.next()).value?.byteLength > 0);
    if (isLonger) throw wrongSize(sizeBytes);
    return bytes;
  }

  return {
    sizeBytes,
    read(start, end) {
      const read = last.then(() => readNext(start, end));
      last = read.catch(() => {});
      return read;
    },
    // Not awaited: a stream that hangs would not let go either.
    async close() {
      chunks.return?.().catch(() => {});
    },
  };
}

function wrongSize(sizeBytes: number): UpstowError {
  return new UpstowError(`The stream is not ${sizeBytes} bytes long.`, { code: "VALIDATION_ERROR" });
}
