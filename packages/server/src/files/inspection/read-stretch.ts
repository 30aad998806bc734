import { type ObjectStore, StorageUnavailable } from "../../storage/object-store.ts";
import type { ByteStretch } from "./families.ts";

/** For all reads of one file. */
const readWithinMs = 20_000;

export async function withinTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(readWithinMs);
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new StorageUnavailable("the storage took too long to show a file", { cause: error });
  }
}

/** A stretch of an object's bytes; null if they are no longer those that were finalised. */
export async function readStretch(
  store: ObjectStore,
  key: string,
  etag: string,
  { start, length }: ByteStretch,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  if (length === 0) return Buffer.alloc(0);
  const source = await store.read(key, { range: { start, end: start + length - 1 }, etag, signal });
  if (source === null || Buffer.isBuffer(source)) return source;
  const chunks: Buffer[] = [];
  let sum = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    // The store may recycle the memory of a chunk.
    chunks.push(Buffer.from(chunk));
    sum += chunk.length;
    if (sum > length) break;
  }
  if (sum !== length) throw new StorageUnavailable("the storage sent another length than it was asked for");
  return Buffer.concat(chunks);
}
