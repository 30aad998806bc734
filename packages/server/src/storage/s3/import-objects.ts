import type { ObjectBytes } from "../object-store.ts";
import type { MultipartDeps } from "./multipart.ts";
import type { ObjectHeaders } from "./object-calls.ts";
import { createBucketReads, type ReadsDeps } from "./reads.ts";

export interface ImportedObject {
  key: string;
  contentType: string;
  /** Not readable until its upload is completed. */
  isStaged: boolean;
}

/** Imports objects from another store. */
export interface ObjectImport {
  /** Whether nothing is below the prefix. */
  isEmpty(): Promise<boolean>;
  /** Writes an object in pieces, all but the last of at least 5 MiB. It is written completely or not at all. */
  put(object: ImportedObject, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  read(object: Pick<ImportedObject, "key" | "isStaged">): Promise<ObjectBytes | null>;
  /** All final objects, in the bucket's order. */
  list(): AsyncGenerator<{ key: string; sizeBytes: number }>;
}

/** Millions of objects take thousands of pages. */
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
      for (const prefix of [names.finalPrefix, names.privatePrefix, names.stagedPrefix]) {
        for await (const _ of bucket.listObjects(prefix)) return false;
      }
      return true;
    },

    async put({ key, contentType, isStaged }, pieces) {
      const name = isStaged ? names.stagedOf(key) : names.finalOf(key);
      // Staged objects have the type that the client sent; readable ones have the safe one.
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
      for (const prefix of [names.finalPrefix, names.privatePrefix]) {
        for await (const { key, sizeBytes } of bucket.listObjects(prefix, longListMs)) {
          yield { key: names.keyOf(key), sizeBytes };
        }
      }
    },
  };
}

async function* join<T>(first: T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}
