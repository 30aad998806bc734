import type { LookupFunction } from "node:net";
import type { Callee } from "../../kernel/calls.ts";
import { type BucketCalls, type CorsCalls, createBucketCalls, createCorsCalls } from "./bucket-calls.ts";
import { createLocation } from "./location.ts";
import { createMultipartCalls, type MultipartCalls } from "./multipart-calls.ts";
import { createObjectCalls, type ObjectCalls } from "./object-calls.ts";
import { createS3Calls, limitCalls, type RetryPolicy, type S3Calls } from "./s3-call.ts";
import { createSigner, type Signer } from "./sigv4.ts";

/** A bucket and its credentials. */
export interface BucketOptions {
  /** Whose it is, in metrics and traces; the installation's own by default. */
  callee?: Callee;
  bucket: string;
  /** Null means Amazon's own endpoint for the region. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  forcePathStyle: boolean;
  /** Checks the addresses of an endpoint that the operator did not choose. */
  lookup?: LookupFunction;
  retry?: RetryPolicy;
  /** How long one attempt of a small request may take. */
  attemptDeadlineMs?: number;
  /** How long a list may take, including all its pages. */
  listDeadlineMs?: number;
  /** How many names one request lists or deletes; at most and by default 1,000. Responses may be as large as that requires. */
  pageSize?: number;
  /** Connections for reading, and the same number for everything else. */
  maxSockets?: number;
  /** Epoch milliseconds; S3 compares them with its own clock. */
  now?: () => number;
}

export interface S3Client {
  objects: ObjectCalls;
  multipart: MultipartCalls;
  bucket: BucketCalls;
  cors: CorsCalls;
  signer: Signer;
  /** The same bucket for work that is aborted with the signal. */
  within(signal: AbortSignal): S3Client;
  close(): void;
}

export const defaultRetry: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 100,
  maxDelayMs: 2000,
  giveUpAfterMs: 10_000,
};
const defaultAttemptDeadlineMs = 6_000;
const defaultListDeadlineMs = 60_000;
/** Keys have up to 1,024 bytes, three times that when percent-encoded, plus a kilobyte per listed upload. */
const listedBytes = 4 * 1024;
const smallXmlBytes = 64 * 1024;

/** The part of S3 that the service needs. */
export function createS3Client(options: BucketOptions): S3Client {
  const signer = createSigner({ ...options, now: options.now ?? Date.now });
  const { bucket, pageSize = 1000, listDeadlineMs = defaultListDeadlineMs } = options;
  const calls = createS3Calls({
    callee: options.callee ?? "storage",
    location: createLocation(options),
    signer,
    retry: options.retry ?? defaultRetry,
    attemptDeadlineMs: options.attemptDeadlineMs ?? defaultAttemptDeadlineMs,
    maxXmlBytes: smallXmlBytes + pageSize * listedBytes,
    maxSockets: options.maxSockets,
    lookup: options.lookup,
  });
  const build = (limited: S3Calls): S3Client => {
    const objects = createObjectCalls(limited, bucket);
    return {
      objects,
      multipart: createMultipartCalls(limited, bucket, { pageSize, listDeadlineMs }),
      bucket: createBucketCalls(limited, objects, { pageSize, listDeadlineMs }),
      cors: createCorsCalls(limited),
      signer,
      within: (signal) => build(limitCalls(limited, signal)),
      close: calls.close,
    };
  };
  return build(calls);
}

/** How lists are requested. */
export interface ListOptions {
  pageSize: number;
  listDeadlineMs: number;
}
