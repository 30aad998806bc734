import { createHash } from "node:crypto";
import type { Inventory, ObjectStore } from "../object-store.ts";
import type { BucketCalls } from "./bucket-calls.ts";
import type { ObjectNames } from "./location.ts";

export function createBucketInspect({
  head,
  read,
}: Pick<ObjectStore, "head" | "read">): Pick<ObjectStore, "inspect"> {
  return {
    async inspect(key, { sizeBytes, etag, sha256 }, { readsBytes, signal }) {
      const found = await head(key);
      if (found === null) return "missing";
      if (found.sizeBytes !== sizeBytes) return "wrong-size";
      if (found.etag !== (etag ?? found.etag)) return "wrong-etag";
      if (!readsBytes) return null;
      const bytes = await read(key, { etag: found.etag, signal });
      // Replaced or deleted just now; the caller looks again.
      if (bytes === null) return "missing";
      const digest = createHash("sha256");
      for await (const chunk of Buffer.isBuffer(bytes) ? [bytes] : (bytes as AsyncIterable<Buffer>))
        digest.update(chunk);
      return sha256 === null || sha256 === digest.digest("hex") ? null : "wrong-checksum";
    },
  };
}

/** The cursor is the number of a prefix and the bucket's token in its list. */
export function createBucketInventory(bucket: BucketCalls, names: ObjectNames): Inventory {
  const prefixes = [names.finalPrefix, names.privatePrefix];
  return {
    async list(cursor, before) {
      const at = Number(cursor.slice(0, 1));
      const { objects, next } = await bucket.listPage(prefixes[at] ?? "", cursor.slice(1));
      const old = objects.filter(({ modifiedAt }) => modifiedAt < before);
      const following = at + 1 < prefixes.length ? String(at + 1) : null;
      return {
        keys: old.map(({ key }) => names.keyOf(key)),
        strays: [],
        next: next === null ? following : at + next,
      };
    },
    removeStrays: async () => {},
  };
}
