import type { ObjectStore } from "../../storage/object-store.ts";

/** Where a customer's bucket is. */
export interface BucketPlace {
  /** Null: Amazon's own, of the region. */
  endpoint: string | null;
  region: string;
  bucket: string;
  /** In front of every object's name; ends with a slash, or is empty. */
  prefix: string;
  forcePathStyle: boolean;
}

export interface BucketCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** What was found out about a bucket by using it. */
export interface BucketFindings {
  /** Why it cannot be used at all; null where it can. */
  unusable: string | null;
  refused: { act: string; reason: string }[];
  clockAheadMs: number | null;
}

export interface CustomerBucket extends ObjectStore {
  /** Writes, reads, copies and removes small objects. Ends early with the signal. */
  examine(signal?: AbortSignal): Promise<BucketFindings>;
  allowsBrowsers(signal?: AbortSignal): Promise<boolean>;
}

/** Buckets at addresses that customers chose, and so not to be trusted. */
export interface CustomerBuckets {
  /** Null where the address may be called; otherwise why not, in a sentence. */
  judgeEndpoint(endpoint: string): Promise<string | null>;
  /** Connects to no address that is not allowed, whatever its name resolves to by then. */
  open(name: string, place: BucketPlace, credentials: BucketCredentials): CustomerBucket;
}
