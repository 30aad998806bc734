import { createHash } from "node:crypto";
import type { Inventory, ObjectStore } from "../object-store.ts";
import type { BucketCalls } from "./bucket-calls.ts";
import type { ObjectNames } from "./location.ts";
import type { S3Client } from "./s3-client.ts";

export interface BucketSweepOptions {
  /** Staged objects unchanged for this long belong to uploads that have ended. */
  stagedOlderThanMs: number;
  /** Multipart uploads, counted from their last part. */
  uploadsIdleMs: number;
  maxDeletions: number;
  dryRun?: boolean;
  now: number;
  /** Stops before the next request. */
  signal?: AbortSignal;
  /** For the whole sweep. Default: 30 minutes. */
  deadlineMs?: number;
}

const usualDeadlineMs = 30 * 60_000;

export interface BucketSweepReport {
  stagedObjects: number;
  uploads: number;
  /** Whether there may be more than was allowed at once. */
  capped: boolean;
}

/** Removes leftovers of uploads. Only considers names below the prefix that only this store writes. */
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
  async function findStale(prefix: string): Promise<void> {
    for await (const upload of bucket.listUploads(prefix, deadlineMs)) {
      signal?.throwIfAborted();
      if (isFull()) return;
      if (upload.startedAt >= now - options.uploadsIdleMs) continue;
      const parts = (await multipart.findParts(upload)) ?? [];
      const isActive = parts.some((part) => part.receivedAt >= now - options.uploadsIdleMs);
      if (!isActive) stale.push(upload);
    }
  }
  await findStale(names.finalPrefix);
  await findStale(names.privatePrefix);

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
