import { UpstowError } from "../errors.ts";
import type { PutBody } from "../transfer/put.ts";
import { openFile } from "./file-source.ts";

export type UploadSource =
  /** A path or a `file:` URL. */
  | string
  | URL
  | { path: string | URL }
  | Blob
  | Uint8Array
  | ArrayBuffer
  | ByteStream
  | { stream: ByteStream };

/** Files up to this size are sent in a single request. */
export const multipartAboveBytes = 10 * 1024 * 1024;

type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Bytes read in ascending ranges, several at once. */
export interface ByteSource {
  sizeBytes: number;
  name?: string | undefined;
  type?: string | undefined;
  read(start: number, end: number): Promise<PutBody>;
  close?(): Promise<void>;
}

/** A stream of unknown length. */
export interface EndlessSource {
  sizeBytes: null;
  name?: undefined;
  type?: undefined;
  /** As many bytes as requested, or fewer at the end. */
  next(bytes: number): Promise<Bytes>;
  close(): Promise<void>;
}

export async function openSource(
  source: UploadSource,
  sizeBytes: number | undefined,
): Promise<ByteSource | EndlessSource> {
  if (typeof source === "string" || source instanceof URL) {
    if (/^https?:/i.test(String(source))) throw isUrl();
    return openFile(source);
  }
  if (source instanceof Blob) return fromBlob(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
    return fromBlob(new Blob([source as ArrayBuffer]));
  }
  if (isStream(source)) {
    const chunks = chunksOf(source);
    return sizeBytes === undefined ? fromEndless(chunks) : fromStream(chunks, sizeBytes);
  }
  // Checked after streams, because Node's file streams have a path too.
  const { path, stream, url } = (source ?? {}) as { path?: string; stream?: ByteStream; url?: unknown };
  if (path !== undefined) return openSource(path, sizeBytes);
  if (stream !== undefined && isStream(stream)) return openSource(stream, sizeBytes);
  if (source instanceof Response)
    throw unusable("a Response", "Pass its body (response.body), or await response.blob().");
  if (url !== undefined) throw isUrl();
  const kind = Object.prototype.toString.call(source).slice(8, -1);
  throw unusable(kind, "Pass a path, a Blob or File, bytes, a stream, { path } or { stream }.");
}

function isStream(source: unknown): source is ByteStream {
  return (
    typeof source === "object" && source !== null && ("getReader" in source || Symbol.asyncIterator in source)
  );
}

const isUrl = () =>
  unusable(
    "a URL",
    "Let the service fetch it: importFromUrl(url). Or fetch it first: upload(await (await fetch(url)).blob(), { name }).",
  );

function unusable(kind: string, suggestion: string): UpstowError {
  return new UpstowError(`upload() cannot read ${kind}. ${suggestion}`, {
    code: "VALIDATION_ERROR",
    suggestion,
  });
}

function fromBlob(blob: Blob): ByteSource {
  const { name, size: sizeBytes, type } = blob as Blob & { name?: string };
  return {
    sizeBytes,
    // Bun's files are blobs whose name is their path.
    name: blob instanceof File ? name : name?.replace(/.*[/\\]/, ""),
    type: type || undefined,
    read: async (start, end) => blob.slice(start, end),
  };
}

export type Bytes = Uint8Array<ArrayBuffer>;

interface Chunks {
  /** Null at the end. */
  next(): Promise<Bytes | null>;
  leave(): Promise<void>;
}

/** Locks the stream immediately: the body of an unreferenced Response is discarded otherwise. */
function chunksOf(source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Chunks {
  const reader = "getReader" in source ? source.getReader() : source[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await ("read" in reader ? reader.read() : reader.next());
      if (done) return null;
      // Node streams with an encoding, or made from strings, yield text.
      return typeof value === "string" ? new TextEncoder().encode(value) : new Uint8Array(value);
    },
    // Not awaited: a stream that hangs would never settle.
    async leave() {
      ("read" in reader ? reader.cancel() : reader.return?.())?.catch(() => {});
    },
  };
}

/** A short stream is like a blob; what is longer than one request takes is read piece by piece. */
async function fromEndless(chunks: Chunks): Promise<ByteSource | EndlessSource> {
  let kept: Bytes[] = [];
  let keptBytes = 0;
  let isOver = false;

  async function fill(wanted: number): Promise<void> {
    while (keptBytes < wanted && !isOver) {
      const chunk = await chunks.next();
      isOver = chunk === null;
      if (chunk === null) return;
      kept.push(chunk);
      keptBytes += chunk.byteLength;
    }
  }

  await fill(multipartAboveBytes + 1);
  if (isOver && keptBytes === 0)
    throw new UpstowError("The stream ended without a single byte, so there is nothing to upload.", {
      code: "VALIDATION_ERROR",
    });
  if (isOver) return fromBlob(new Blob(kept));
  return {
    sizeBytes: null,
    async next(bytes) {
      await fill(bytes);
      const all = new Uint8Array(await new Blob(kept).arrayBuffer());
      const taken = all.subarray(0, bytes);
      const rest = all.subarray(bytes);
      kept = rest.byteLength === 0 ? [] : [rest];
      keptBytes = rest.byteLength;
      return taken;
    },
    close: chunks.leave,
  };
}

/** Reads parts sequentially; a part stays in memory until it has arrived. */
function fromStream(chunks: Chunks, sizeBytes: number): ByteSource {
  let rest: Bytes | null = new Uint8Array(0);
  let position = 0;
  let last: Promise<unknown> = Promise.resolve();

  /** The next bytes, at most this many. */
  async function take(wanted: number): Promise<Uint8Array> {
    while (rest?.byteLength === 0) rest = await chunks.next();
    if (rest === null) throw wrongSize(sizeBytes);
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
    const isLonger = end === sizeBytes && (rest?.byteLength || (await chunks.next())?.byteLength);
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
    close: chunks.leave,
  };
}

function wrongSize(sizeBytes: number): UpstowError {
  return new UpstowError(`The stream is not ${sizeBytes} bytes long.`, { code: "VALIDATION_ERROR" });
}
