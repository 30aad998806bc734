import type { LookupFunction } from "node:net";
import { randomText } from "../../kernel/ids.ts";
import { StorageUnavailable } from "../object-store.ts";
import { expectText } from "./access-probe.ts";
import { createExchange } from "./exchange.ts";
import type { Location } from "./location.ts";
import type { ObjectNames } from "./object-names.ts";
import type { BucketOptions, S3Client } from "./s3-client.ts";
import { isStatus, quote } from "./s3-error.ts";

/** What the service does with a bucket, each of which a policy can forbid. */
export type BucketAct = "write" | "read" | "copy" | "upload in parts" | "delete" | "list";

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
