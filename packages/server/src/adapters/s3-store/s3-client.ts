import type { LookupFunction } from "node:net";
import { type BucketCalls, createBucketCalls } from "./bucket-calls.ts";
import { type CorsCalls, createCorsCalls } from "./cors-calls.ts";
import { createLocation } from "./location.ts";
import { createMultipartCalls, type MultipartCalls } from "./multipart-calls.ts";
import { createObjectCalls, type ObjectCalls } from "./object-calls.ts";
import type { RetryPolicy } from "./retry.ts";
import { createS3Calls } from "./s3-call.ts";
import { createSigner, type Signer } from "./sigv4.ts";

/** A bucket and the right to use it. */
export interface BucketOptions {
  bucket: string;
  /** Null: Amazon's own, of the region. */
  endpoint: string | null;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  forcePathStyle: boolean;
  /** Judges the addresses behind an endpoint that the operator did not choose. */
  lookup?: LookupFunction;
  retry?: RetryPolicy;
  /** How long one attempt of a small request may take. */
  attemptDeadlineMs?: number;
  /** How many names one request lists or deletes; at most and by default 1,000. */
  pageSize?: number;
  /** Epoch milliseconds; S3 compares them with its own clock. */
  now?: () => number;
}

export interface S3Client {
  objects: ObjectCalls;
  multipart: MultipartCalls;
  bucket: BucketCalls;
  cors: CorsCalls;
  signer: Signer;
  close(): void;
}

export const defaultRetry: RetryPolicy = {
  attempts: 5,
  baseDelayMs: 100,
  maxDelayMs: 2000,
  giveUpAfterMs: 10_000,
};
const defaultAttemptDeadlineMs = 6_000;

/** What the service needs of S3, and no more. */
export function createS3Client(options: BucketOptions): S3Client {
  const signer = createSigner({ ...options, now: options.now ?? Date.now });
  const calls = createS3Calls({
    location: createLocation(options),
    signer,
    retry: options.retry ?? defaultRetry,
    attemptDeadlineMs: options.attemptDeadlineMs ?? defaultAttemptDeadlineMs,
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  });
  const pageSize = options.pageSize ?? 1000;
  const objects = createObjectCalls(calls, options.bucket);
  return {
    objects,
    multipart: createMultipartCalls(calls, options.bucket, pageSize),
    bucket: createBucketCalls(calls, objects, pageSize),
    cors: createCorsCalls(calls),
    signer,
    close: calls.close,
  };
}
