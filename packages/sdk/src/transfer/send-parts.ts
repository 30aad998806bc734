import { orAborted, stoppable } from "../http/wait.ts";
import type { SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { Verifier } from "./checksum.ts";
import type { Put, PutBody } from "./put.ts";
import { type PutPolicy, putWithRetries } from "./put-with-retries.ts";

export interface PartRange {
  partNumber: number;
  start: number;
  end: number;
}

export interface PartsToSend {
  /** Ascending; only parts the storage does not have yet. */
  ranges: PartRange[];
  urls: SignedPart[];
  concurrency: number;
  policy: PutPolicy;
  signal: AbortSignal;
  put: Put;
  read(range: PartRange): Promise<PutBody>;
  sign(partNumbers: number[]): Promise<SignedPart[]>;
  onProgress(partNumber: number, sentBytes: number): void;
  onSent(part: UploadedPart): void;
  verifier: Verifier | null;
}

/** Sends a few parts at a time. If a part fails for good, rejects once none is in flight. */
export function sendParts(job: PartsToSend): Promise<void> {
  return stoppable([job.signal], undefined, (stop) => sendUnder(stop, job));
}

async function sendUnder(stop: AbortController, job: PartsToSend): Promise<void> {
  const { signal } = stop;
  const waiting = [...job.ranges];
  const urls = createUrls(job, waiting);
  if (waiting.some(({ partNumber }) => urls.get(partNumber) === "")) await urls.signAll();

  async function sendNext(): Promise<void> {
    for (let range = waiting.shift(); range !== undefined; range = waiting.shift()) {
      const { partNumber } = range;
      urls.underWay.add(partNumber);
      const body = await orAborted(job.read(range), signal);
      const etag = await putWithRetries(job.put, job.policy, signal, {
        body,
        url: () => urls.get(partNumber),
        renew: (refusedUrl) => urls.renew(partNumber, refusedUrl),
        onProgress: (sentBytes) => job.onProgress(partNumber, sentBytes),
        check: job.verifier?.check.bind(null, body),
      });
      urls.underWay.delete(partNumber);
      job.onSent({ partNumber, etag });
    }
  }

  const senders = Array.from({ length: Math.min(job.concurrency, waiting.length) }, () =>
    sendNext().catch((error) => {
      stop.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(senders);
  await Promise.all(senders);
}

/** URLs are signed together and so expire together: one rejection renews all that are still needed, once. */
function createUrls(job: PartsToSend, waiting: PartRange[]) {
  const byNumber = new Map(job.urls.map((part) => [part.partNumber, part.uploadUrl]));
  const underWay = new Set<number>();
  let renewal: Promise<void> | null = null;

  async function signAgain(): Promise<void> {
    const needed = [...underWay, ...waiting.map((range) => range.partNumber)];
    for (const part of await job.sign(needed)) byNumber.set(part.partNumber, part.uploadUrl);
  }

  return {
    underWay,
    signAll: signAgain,
    get: (partNumber: number) => byNumber.get(partNumber) ?? "",
    renew(partNumber: number, refusedUrl: string): Promise<void> {
      if (byNumber.get(partNumber) !== refusedUrl) return Promise.resolve();
      renewal ??= signAgain().finally(() => {
        renewal = null;
      });
      return renewal;
    },
  };
}

/** The ranges of a file that the storage does not have. */
export function missingRanges(sizeBytes: number, partSize: number, has: (partNumber: number) => boolean) {
  const ranges: PartRange[] = [];
  for (let start = 0, partNumber = 1; start < sizeBytes; start += partSize, partNumber++) {
    if (!has(partNumber)) ranges.push({ partNumber, start, end: Math.min(sizeBytes, start + partSize) });
  }
  return ranges;
}

/** The stored parts whose boundaries match the current ones. */
export function wholeParts<Part extends { partNumber: number; size: number }>(
  sizeBytes: number,
  partSize: number,
  parts: Part[],
): Part[] {
  return parts.filter(
    ({ partNumber, size }) => size === Math.min(partSize, sizeBytes - (partNumber - 1) * partSize),
  );
}
