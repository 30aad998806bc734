import assert from "node:assert/strict";
import { readFile, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createObjectNames } from "../../src/storage/s3/location.ts";
import { createS3Client } from "../../src/storage/s3/s3-client.ts";
import type { TestApp } from "./start-app.ts";

/** The bytes behind a store's key, changed behind the service's back. */
export interface StoredObjects {
  remove(storeKey: string): Promise<void>;
  /** Returns the bytes that were there. */
  read(storeKey: string): Promise<Buffer>;
  replace(storeKey: string, bytes: Buffer): Promise<void>;
  cutShort(storeKey: string): Promise<void>;
}

export function openStoredObjects({ app, dataDir }: TestApp): StoredObjects {
  const { s3 } = app.deps.config;
  if (s3 === null) {
    const pathOf = async (storeKey: string) => {
      const path = await app.deps.store.localFiles?.findPath(storeKey);
      assert.ok(path, "the object is one file");
      return join(dataDir, "objects", path);
    };
    return {
      remove: async (storeKey) => unlink(await pathOf(storeKey)),
      read: async (storeKey) => readFile(await pathOf(storeKey)),
      replace: async (storeKey, bytes) => writeFile(await pathOf(storeKey), bytes),
      cutShort: async (storeKey) => truncate(await pathOf(storeKey), 1),
    };
  }
  const { objects } = createS3Client(s3);
  const names = createObjectNames(s3.prefix);
  const contentType = "application/octet-stream";
  const replace = async (storeKey: string, bytes: Buffer) =>
    void (await objects.put(names.finalOf(storeKey), bytes, { contentType }));
  return {
    remove: (storeKey) => objects.remove(names.finalOf(storeKey)),
    async read(storeKey) {
      const { stream } = await objects.get(names.finalOf(storeKey), {});
      return Buffer.concat(await stream.toArray());
    },
    replace,
    cutShort: (storeKey) => replace(storeKey, Buffer.alloc(1)),
  };
}
