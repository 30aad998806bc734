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
  /** Writes, reads and removes an object; throws when that does not work. */
  run(): Promise<void>;
  /**
   * A store whose keys may not list the bucket answers 403 for what is not there. So does one that lost its
   * rights: only a probe can tell, and a file must not look deleted because somebody edited a policy.
   */
  nullIfForbidden<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * Throws where it is not the object alone that is missing. The answer to a HEAD gives no reason, and no file must
   * look deleted or never sent because its bucket is gone or the key to it was changed.
   */
  confirmMissing(key: string): Promise<void>;
}

const trustMs = 5_000;

/** Throws where an object is not exactly this; reads no more of it than that takes. */
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

/** What the service does with a bucket, each of which a policy can forbid. */
type BucketAct = "write" | "read" | "copy" | "upload in parts" | "delete" | "list";

export interface BucketExamination {
  /** Why the bucket cannot be used at all; the rest was not tried then. */
  unusable: string | null;
  /** How far the store's clock is ahead of ours; null where it does not say. Known to the second. */
  clockAheadMs: number | null;
  refused: { act: BucketAct; reason: string }[];
  /** Whether the store keeps a copy from replacing what is there; null where copies were refused. */
  guardsCopies: boolean | null;
}

const deadlineMs = 5000;
const contentType = "text/plain";

/** Tries everything with small objects below the prefix, and takes them away again. All of it ends with the signal. */
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
      // To look at the bucket takes the right to list it, which is judged below.
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
    // Whatever ended the rest: nobody else takes them away.
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

/** Of an answer to a request that is not signed: a signed one is refused where clocks are far apart. */
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
    // Their second has begun somewhere between the question and the answer.
    const [earliest, latest] = [theirs - Date.now(), theirs + 999 - startedAt];
    if (earliest <= 0 && latest >= 0) return 0;
    return earliest > 0 ? earliest : latest;
  } finally {
    exchange.close();
  }
}

function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // An error of ours quotes the bucket already.
  if (error instanceof StorageUnavailable) return message;
  return quote(message === "" ? (code ?? String(error)) : message);
}
