import type { ObjectBytes } from "../../../storage/object-store.ts";

export interface TargetObject {
  key: string;
  contentType: string;
  /** A body that has arrived, and whose upload is not completed yet. */
  isStaged: boolean;
}

/** The bucket, which nothing else uses until the service is started on it. */
export interface BucketTarget {
  /** Names it, without credentials. */
  description: string;
  isEmpty(): Promise<boolean>;
  /** Pieces come in their order; all but the last have at least 5 MiB. It is there whole or not at all. */
  put(object: TargetObject, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  read(object: Pick<TargetObject, "key" | "isStaged">): Promise<ObjectBytes | null>;
  list(): AsyncGenerator<{ key: string; sizeBytes: number }>;
  has(key: string): Promise<boolean>;
  delete(keys: string[]): Promise<void>;
  /** Removes staged bodies and multipart uploads that an earlier run left. */
  clearLeftovers(): Promise<void>;
}
