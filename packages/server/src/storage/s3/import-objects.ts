import type { ObjectBytes } from "../object-store.ts";
import type { ObjectNames } from "./location.ts";
import type { MultipartDeps } from "./multipart.ts";
import type { ObjectHeaders } from "./object-calls.ts";
import { createBucketReads, type ReadsDeps } from "./reads.ts";
import type { S3Client } from "./s3-client.ts";

export interface ImportedObject {
  key: string;
  contentType: string;
  /** To be read only once its upload is completed. */
  isStaged: boolean;
}

/** Takes over objects of another store. */
export interface ObjectImport {
  /** Whether nothing is below the prefix. */
  isEmpty(): Promise<boolean>;
  /** Puts an object in pieces, each but the last of at least 5 MiB. It is there whole or not at all. */
  put(object: ImportedObject, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  read(object: Pick<ImportedObject, "key" | "isStaged">): Promise<ObjectBytes | null>;
  /** All final objects, in whatever order the bucket has. */
  list(): AsyncGenerator<{ key: string; sizeBytes: number }>;
}

/** Millions of objects are in thousands of pages. */
const longListMs = 24 * 3_600_000;

export function createObjectImport(deps: MultipartDeps & ReadsDeps): ObjectImport {
  const { client, names, headersOf } = deps;
  const { objects, multipart, bucket } = client;
  const final = createBucketReads(deps);
  const staged = createBucketReads({ ...deps, names: { ...names, finalOf: names.stagedOf } });

  async function putParts(name: string, headers: ObjectHeaders, pieces: AsyncIterable<Uint8Array>) {
    const upload = { key: name, uploadId: await multipart.create(name, headers) };
    try {
      const parts: { partNumber: number; etag: string }[] = [];
      for await (const bytes of pieces) {
        const partNumber = parts.length + 1;
        const { etag } = await multipart.putPart({ ...upload, partNumber, bytes });
        parts.push({ partNumber, etag });
      }
      await multipart.complete({ ...upload, parts });
    } catch (error) {
      await multipart.abort(upload).catch(() => {});
      throw error;
    }
  }

  return {
    async isEmpty() {
      for (const prefix of [names.finalPrefix, names.stagedPrefix]) {
        for await (const _ of bucket.listObjects(prefix)) return false;
      }
      return true;
    },

    async put({ key, contentType, isStaged }, pieces) {
      const name = isStaged ? names.stagedOf(key) : names.finalOf(key);
      // What a client put there has the type that it sent; what may be read has the one that is safe.
      const headers = isStaged ? { contentType } : headersOf(contentType);
      const rest = pieces[Symbol.asyncIterator]();
      try {
        const first = await rest.next();
        const second = await rest.next();
        if (second.done !== true) await putParts(name, headers, join([first.value, second.value], rest));
        else await objects.put(name, first.value ?? Buffer.alloc(0), headers);
      } finally {
        await rest.return?.();
      }
    },

    read: ({ key, isStaged }) => (isStaged ? staged : final).read(key),

    async *list() {
      for await (const { key, sizeBytes } of bucket.listObjects(names.finalPrefix, longListMs)) {
        yield { key: key.slice(names.finalPrefix.length), sizeBytes };
      }
    },
  };
}

async function* join<T>(first: T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

export interface BucketSweepOptions {
  /** Staged objects that nobody wrote to for so long belong to uploads that have ended. */
  stagedOlderThanMs: number;
  /** Multipart uploads, counted from their last part. */
  uploadsIdleMs: number;
  maxDeletions: number;
  dryRun?: boolean;
  now: number;
  /** Ends it before the next request. */
  signal?: AbortSignal;
  /** For all of it; half an hour unless given. */
  deadlineMs?: number;
}

const usualDeadlineMs = 30 * 60_000;

export interface BucketSweepReport {
  stagedObjects: number;
  uploads: number;
  /** There may be more than was allowed in one go. */
  capped: boolean;
}

/** Removes what uploads left behind. Looks only at names below the prefix that nothing but this store writes. */
export async function sweepBucket(
  client: S3Client,
  names: ObjectNames,
  options: BucketSweepOptions,
): Promise<BucketSweepReport> {
  const { now, maxDeletions, dryRun = false, signal, deadlineMs = usualDeadlineMs } = options;
  const { bucket, multipart } = client.within(AbortSignal.timeout(deadlineMs));
  const staged: string[] = [];
  const isFull = () => staged.length + stale.length >= maxDeletions;
  const stale: { key: string; uploadId: string }[] = [];

  for (const prefix of [names.stagedPrefix, names.probePrefix]) {
    for await (const { key, modifiedAt } of bucket.listObjects(prefix, deadlineMs)) {
      signal?.throwIfAborted();
      if (isFull()) break;
      if (modifiedAt < now - options.stagedOlderThanMs) staged.push(key);
    }
  }
  for await (const upload of bucket.listUploads(names.finalPrefix, deadlineMs)) {
    signal?.throwIfAborted();
    if (isFull()) break;
    if (upload.startedAt >= now - options.uploadsIdleMs) continue;
    const parts = (await multipart.findParts(upload)) ?? [];
    const isActive = parts.some((part) => part.receivedAt >= now - options.uploadsIdleMs);
    if (!isActive) stale.push(upload);
  }

  const report = { stagedObjects: staged.length, uploads: stale.length, capped: isFull() };
  if (dryRun) return report;
  signal?.throwIfAborted();
  const [refusal] = (await bucket.removeAll(staged)).values();
  for (const upload of stale) {
    signal?.throwIfAborted();
    await multipart.abort(upload);
  }
  if (refusal !== undefined) throw refusal;
  return report;
}
