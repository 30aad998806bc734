import type { LookupFunction } from "node:net";
import { randomText } from "../../kernel/ids.ts";
import { StorageUnavailable } from "../object-store.ts";
import { createExchange, readBody } from "./exchange.ts";
import type { Location, ObjectNames } from "./location.ts";
import type { ObjectCalls } from "./object-calls.ts";
import { withDeadline } from "./s3-call.ts";
import type { BucketOptions, S3Client } from "./s3-client.ts";
import { isMissing, isStatus, isUnknownCaller, quote } from "./s3-error.ts";

export interface AccessProbe {
  /** Writes, reads and removes an object; throws if that fails. */
  run(): Promise<void>;
  /**
   * If the credentials may not list the bucket, a store returns 403 for missing objects. It does the same if they lost
   * access, so only a probe can tell; a file must not look deleted because someone edited a policy.
   */
  nullIfForbidden<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * Throws if more than the object is missing. The response to a HEAD gives no reason, and a file must not look deleted
   * or never sent because its bucket is gone or the credentials changed.
   */
  confirmMissing(key: string): Promise<void>;
}

const trustMs = 5_000;

/** Throws if an object is not exactly this; reads no more than necessary. */
export async function expectText(objects: ObjectCalls, key: string, text: string, signal: AbortSignal) {
  const { head, stream } = await objects.get(key, { signal });
  if (head.sizeBytes === text.length) {
    const { text: found } = await readBody(stream, text.length, signal).catch((error) => {
      throw new StorageUnavailable(`the bucket cannot be read: ${quote(String(error))}`);
    });
    if (found === text) return;
  }
  stream.destroy();
  throw new StorageUnavailable("the bucket returns other bytes");
}

export function createAccessProbe(client: S3Client, names: ObjectNames, deadlineMs: number): AccessProbe {
  const { objects } = client;
  let trustedUntil = 0;

  const run = () => withDeadline(deadlineMs, tryObject);

  async function tryObject(deadline: AbortSignal): Promise<void> {
    const { objects } = client.within(deadline);
    const key = names.probePrefix + randomText(26);
    await objects.put(key, Buffer.from(key), { contentType: "text/plain" });
    try {
      await expectText(objects, key, key, deadline);
    } finally {
      await objects.remove(key);
    }
  }

  async function nullIfForbidden<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!isStatus(error, 403) || isUnknownCaller(error)) throw error;
      if (performance.now() > trustedUntil) {
        await run();
        trustedUntil = performance.now() + trustMs;
      }
      return null;
    }
  }

  return {
    run,
    nullIfForbidden,
    async confirmMissing(key) {
      try {
        const found = await nullIfForbidden(() => objects.get(key, {}));
        found?.stream.destroy();
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

/** The service's operations on a bucket, each of which a policy can deny. */
type BucketAct = "write" | "read" | "copy" | "upload in parts" | "delete" | "list";

export interface BucketExamination {
  /** Why the bucket cannot be used at all; the rest was not tried in that case. */
  unusable: string | null;
  /** How far the store's clock is ahead of ours, to the second; null if unknown. */
  clockAheadMs: number | null;
  refused: { act: BucketAct; reason: string }[];
  /** Whether the store prevents copies from overwriting objects; null if copies were denied. */
  guardsCopies: boolean | null;
}

const deadlineMs = 5000;
const contentType = "text/plain";

/** Tries everything with small objects below the prefix, and removes them again. Stops with the signal. */
export async function examineBucket(
  client: S3Client,
  names: ObjectNames,
  location: Location,
  options: BucketOptions & { guardHeader: string; signal: AbortSignal },
): Promise<BucketExamination> {
  const { signal } = options;
  const { objects, multipart, bucket } = client.within(signal);
  const [key, copied] = [names.probePrefix + randomText(26), names.probePrefix + randomText(26)];
  const refused: BucketExamination["refused"] = [];
  const report = { clockAheadMs: null as number | null, refused, guardsCopies: null as boolean | null };

  async function attempt(act: BucketAct, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!refused.some((problem) => problem.act === act)) refused.push({ act, reason: explain(error) });
      return false;
    }
  }

  const copy = (etag: string, guard: Record<string, string>) =>
    objects.copy({ fromKey: key, toKey: copied, etag, guard, contentType, deadlineMs });

  async function isGuarded(etag: string): Promise<boolean> {
    try {
      await copy(etag, { [options.guardHeader]: "*" });
      return false;
    } catch (error) {
      return isStatus(error, 412, 409);
    }
  }

  async function uploadInParts(): Promise<void> {
    const upload = { key: copied, uploadId: await multipart.create(copied, { contentType }) };
    await multipart.findParts(upload);
    await multipart.abort(upload);
  }

  try {
    report.clockAheadMs = await readClock(location, options);
    await bucket.check(deadlineMs).catch((error) => {
      // Checking the bucket requires permission to list it, which is checked below.
      if (!isStatus(error, 403)) throw error;
    });
  } catch (error) {
    return { unusable: explain(error), ...report };
  }
  let etag = "";
  const isWritten = await attempt("write", async () => {
    etag = (await objects.put(key, Buffer.from(key), { contentType })).etag;
  });
  if (isWritten) {
    await attempt("read", () =>
      expectText(objects, key, key, AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])),
    );
    const isCopied = await attempt("copy", async () => void (await copy(etag, {})));
    if (isCopied) report.guardsCopies = await isGuarded(etag);
    await attempt("upload in parts", uploadInParts);
    // However the probe ended, nothing else removes them.
    const cleaner = client.within(AbortSignal.timeout(deadlineMs));
    await attempt("delete", () => cleaner.objects.remove(copied));
    await attempt("delete", () => cleaner.objects.remove(key));
  }
  await attempt("list", async () => {
    await bucket.listObjects(names.probePrefix).next();
    await bucket.listUploads(names.finalPrefix).next();
  });
  return { unusable: null, ...report };
}

/** From the response to an unsigned request, because a signed one is rejected if the clocks differ too much. */
async function readClock(
  location: Location,
  { lookup, signal }: { lookup?: LookupFunction; signal: AbortSignal },
): Promise<number | null> {
  const exchange = createExchange(location.origin, { lookup });
  try {
    const startedAt = Date.now();
    const answer = await exchange.fetch({
      method: "HEAD",
      path: location.pathOf(),
      headers: { host: location.host },
      deadlineMs,
      signal,
    });
    const theirs = Date.parse(answer.headers.date ?? "");
    if (Number.isNaN(theirs)) return null;
    // Their second started somewhere between the request and the response.
    const [earliest, latest] = [theirs - Date.now(), theirs + 999 - startedAt];
    if (earliest <= 0 && latest >= 0) return 0;
    return earliest > 0 ? earliest : latest;
  } finally {
    exchange.close();
  }
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Our own errors already quote the bucket.
  if (error instanceof StorageUnavailable) return message;
  return quote(message === "" ? (code ?? String(error)) : message);
}
