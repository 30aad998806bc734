import type { Readable } from "node:stream";
import type { Queryable } from "../db/database.ts";

/**
 * Where the bytes live. The service decides who may upload what; a store only keeps bytes under keys.
 *
 * Every adapter keeps this contract, and `object-store-contract.ts` proves it over real HTTP:
 *
 * - **Absent is null, broken throws.** A missing object, upload or part is an answer, not an error.
 *   A store that cannot be reached throws `StorageUnavailable`; a full one throws `StorageFull`.
 * - **Staged, then final.** A presigned PUT lands in a staged object that nobody can read. `finishPut` and
 *   `finishMultipart` make it final. Until then a PUT may be repeated and the last complete body wins;
 *   from then on no PUT ever changes the bytes, even with a URL that has not expired.
 * - **Whole bodies only.** A body that is longer or shorter than declared, or cut off, is never kept.
 * - **Durable before acknowledged.** A PUT that was answered 200 and a call that resolved survive a power cut.
 * - **Idempotent.** finish*, abort and delete may be called again after a crash and succeed.
 * - **Gone is gone.** After `delete` or `abortMultipart` a PUT to an old URL keeps nothing that is ever served.
 */
export interface ObjectStore {
  /** Recorded on every file, so that a file is always read from the store that holds it. */
  readonly name: string;

  /** The largest body that one PUT may have, where the store has such a limit. */
  readonly maxPutBytes?: number;

  // What only some stores can do.
  readonly withinTransaction?: TransactionalFinish;
  readonly arrivals?: ArrivalWatch;
  readonly localFiles?: LocalFiles;
  readonly directReads?: DirectReads;

  /** A URL that takes one PUT of exactly this type and size. */
  presignPut(upload: PresignPut): Promise<string>;
  /**
   * Makes the staged object final. Null when no complete body has arrived. `sizeBytes` is what the upload announced: a
   * store that does not receive bodies itself leaves anything else as it is, and answers null too.
   */
  finishPut(key: string, sizeBytes: number): Promise<StoredObject | null>;

  /** Opens a multipart upload under a key that was never used, and returns its opaque id. */
  startMultipart(upload: { key: string; contentType: string; sizeBytes: number }): Promise<string>;
  /** One URL per part number, in the order given. No part, nor the sum of parts, may exceed `sizeBytes`. */
  presignParts(
    upload: MultipartRef & { sizeBytes: number; partNumbers: number[]; expiresInSec: number },
  ): Promise<string[]>;
  /** The parts received so far, ascending. Null when the upload is unknown. */
  listParts(upload: MultipartRef, signal?: AbortSignal): Promise<ReceivedPart[] | null>;
  /** Assembles exactly these parts. The caller has checked that the numbers ascend without duplicates. */
  finishMultipart(upload: FinishMultipart): Promise<FinishMultipartResult>;
  abortMultipart(upload: MultipartRef): Promise<void>;

  /** What has arrived for a key, staged or final: size and time. Null when nothing has. */
  findReceived(key: string): Promise<{ sizeBytes: number; receivedAt: number } | null>;
  /** A final object. Null when there is none, or when its bytes are known to be damaged. */
  head(key: string): Promise<StoredObject | null>;
  /**
   * Bytes `range.start` to `range.end` (both included), or everything. Null as in `head`, also where the damage is
   * found only now. A stream that cannot go on to its end fails, so that nobody takes it for whole.
   */
  read(key: string, options?: { range?: ByteRange; signal?: AbortSignal }): Promise<ObjectBytes | null>;
  /** Stores bytes the service made itself (an image variant), final at once, replacing what was there. */
  write(key: string, bytes: Uint8Array, options: { contentType: string }): Promise<StoredObject>;
  /**
   * Removes objects, staged or final. Keys that are not there count as removed. Those that the store keeps all the same
   * are returned with its reasons, and hold up no other; it throws where the store as a whole does not work.
   */
  delete(keys: string[]): Promise<RefusedDeletion[]>;

  /** Answers quickly whether the store can serve; throws `StorageUnavailable` with the reason if not. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A store that keeps its records in the service's own database finishes uploads within a transaction of the service. */
export interface TransactionalFinish {
  finishPut(tx: Queryable, key: string): Promise<StoredObject | null>;
  finishMultipart(tx: Queryable, upload: FinishMultipart): Promise<FinishMultipartResult>;
}

/** A store that receives bodies itself knows whether one is on its way. */
export interface ArrivalWatch {
  isArriving(key: string): boolean;
}

/** A store on a local disk. Its files are for readers that take them whole or hand them to a proxy. */
export interface LocalFiles {
  /** The file of a final object in one piece, relative to the store's directory. Null as in `head`, or when it is in several. */
  findPath(key: string): Promise<string | null>;
  /**
   * Null as in `findPath`, and where `read` is the better way. The file is not checked here: a reader that does not
   * find its full size calls `read`, which knows what that means.
   */
  findFile(key: string): Promise<ObjectFile | null>;
}

/** A store that clients can read from directly. */
export interface DirectReads {
  /** A URL that serves a final object with these headers until it expires or the object is deleted. */
  presignGet(key: string, options: PresignGet): string;
}

/** A small object may come whole, which costs a reader far less than a stream. */
export type ObjectBytes = ObjectStream | Buffer;

export interface ObjectStream extends Readable {
  /** Takes back the memory of a chunk that the reader no longer needs. Readers need not call it. */
  recycle?(chunk: Buffer): void;
}

export interface ObjectFile {
  path: string;
  sizeBytes: number;
}

export interface PresignPut {
  key: string;
  contentType: string;
  sizeBytes: number;
  expiresInSec: number;
}

export interface PresignGet {
  expiresInSec: number;
  contentType: string;
  contentDisposition: string;
}

export interface MultipartRef {
  key: string;
  uploadId: string;
}

export interface StoredObject {
  sizeBytes: number;
  /** Changes when the bytes change; without quotes. */
  etag: string;
  /** Hex; null where the store never saw the bytes in one piece. */
  sha256: string | null;
}

export interface RefusedDeletion {
  key: string;
  error: Error;
}

export interface ReceivedPart {
  partNumber: number;
  etag: string;
  sizeBytes: number;
  receivedAt: number;
}

/** A part as the client reports it; the etag may carry quotes. */
export interface ClaimedPart {
  partNumber: number;
  etag: string;
}

export type FinishMultipart = MultipartRef & { sizeBytes: number; parts: ClaimedPart[] };

export type FinishMultipartResult =
  | { ok: true; object: StoredObject }
  | {
      ok: false;
      problem: "unknown-upload" | "missing-part" | "wrong-etag" | "wrong-size" | "part-too-small";
      message: string;
    };

/** Inclusive on both ends, already checked against the object's size. */
export interface ByteRange {
  start: number;
  end: number;
}

export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}

/** Every store that files may be in: the installation's own, and the buckets that customers brought. */
export interface ObjectStores {
  /** The store of this name, as it is recorded on a file. Throws `UnknownStore` where there is none. */
  get(name: string): Promise<ObjectStore>;
}

/** Removed since, or of another installation: nothing in it can be reached, and nothing of ours is left in it. */
export class UnknownStore extends StorageUnavailable {}
