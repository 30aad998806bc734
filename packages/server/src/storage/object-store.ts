import type { Readable } from "node:stream";
import type { Queryable } from "../db/database.ts";
import type { DamageReason } from "../db/schema.ts";

/**
 * Stores bytes by key. The service decides who may upload what.
 *
 * Every adapter keeps this contract, and `object-store-contract.ts` proves it over real HTTP:
 *
 * - **Absent is null, broken throws.** A missing object, upload or part is a result, not an error.
 *   An unreachable store throws `StorageUnavailable`; a full one throws `StorageFull`.
 * - **Staged, then final.** A presigned PUT lands in a staged object that nobody can read. `finishPut` and
 *   `finishMultipart` make it final. Until then a PUT may be repeated and the last complete body wins;
 *   from then on no PUT ever changes the bytes, even with a URL that has not expired.
 * - **Whole bodies only.** A body that is longer or shorter than declared, or truncated, is never kept.
 * - **Durable before acknowledged.** A PUT that returned 200 and a call that resolved survive a power failure.
 * - **Idempotent.** finish*, abort and delete may be called again after a crash and succeed.
 * - **Gone is gone.** After `delete` or `abortMultipart` a PUT to an old URL keeps nothing that is ever served.
 */
export interface ObjectStore {
  /** Recorded on every file, so that a file is always read from its own store. */
  readonly name: string;

  /** The largest body of one PUT, if the store has such a limit. */
  readonly maxPutBytes?: number;

  // Capabilities of some stores only.
  readonly withinTransaction?: TransactionalFinish;
  readonly arrivals?: ArrivalWatch;
  readonly localFiles?: LocalFiles;
  readonly directReads?: DirectReads;
  readonly copies?: Copies;
  readonly inventory?: Inventory;
  readonly appends: Appends;

  /** A URL that accepts one PUT of exactly this type and size. */
  presignPut(upload: PresignPut): Promise<string>;
  /**
   * Finalises the staged object. Null if no complete body has arrived. `sizeBytes` is the declared size: a store that
   * does not receive bodies itself leaves an object of any other size alone and returns null too.
   */
  finishPut(key: string, sizeBytes: number): Promise<StoredObject | null>;

  /**
   * Opens a multipart upload under a key that was never used, and returns its opaque id. May be repeated for a key whose
   * upload has no parts yet; the earlier id is then unknown, or useless.
   */
  startMultipart(upload: { key: string; contentType: string; sizeBytes: number }): Promise<string>;
  /** One URL per part number, in the given order. Neither a part nor the sum of parts may exceed `sizeBytes`. */
  presignParts(
    upload: MultipartRef & { sizeBytes: number; partNumbers: number[]; expiresInSec: number },
  ): Promise<string[]>;
  /** Stores a part whose bytes came through the service. It counts like one that was PUT to its URL. */
  putPart(part: PutPart): Promise<{ etag: string }>;
  /** The parts received so far, ascending. Null if the upload is unknown. */
  listParts(upload: MultipartRef, signal?: AbortSignal): Promise<ReceivedPart[] | null>;
  /** Assembles exactly these parts. The caller has checked that the numbers ascend without duplicates. */
  finishMultipart(upload: FinishMultipart): Promise<FinishMultipartResult>;
  abortMultipart(upload: MultipartRef): Promise<void>;

  /** Size and time of the bytes received for a key, staged or final. Null if there are none. */
  findReceived(key: string): Promise<{ sizeBytes: number; receivedAt: number } | null>;
  /** A final object. Null if there is none, or if its bytes are known to be damaged. */
  head(key: string): Promise<StoredObject | null>;
  /**
   * Bytes `range.start` to `range.end` (both inclusive), or everything. Null as in `head`, also if the damage is only
   * found now. A stream that cannot be completed fails, so that it is never considered complete. With `etag`, a store
   * whose objects others could replace returns null for an object with a different one, without an additional request.
   */
  read(key: string, options?: ReadOptions): Promise<ObjectBytes | null>;
  /**
   * What is wrong with a final object, or null if it is as recorded. With `readsBytes`, its bytes are read to the end, and
   * compared with their checksum if there is one.
   */
  inspect(key: string, recorded: RecordedObject, options: InspectOptions): Promise<DamageReason | null>;
  /** Stores bytes created by the service itself (an image variant), final immediately, replacing existing ones. */
  write(key: string, bytes: Uint8Array, options: { contentType: string }): Promise<StoredObject>;
  /**
   * Removes objects, staged or final. Keys that do not exist count as removed. Those that the store fails to remove are
   * returned with the reasons, without blocking others; throws if the store as a whole does not work.
   */
  delete(keys: string[]): Promise<RefusedDeletion[]>;

  /** A quick health check; throws `StorageUnavailable` with the reason. */
  check(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordedObject {
  sizeBytes: number;
  /** Undefined if the store's own was not recorded. */
  etag: string | undefined;
  sha256: string | null;
}

export interface InspectOptions {
  readsBytes: boolean;
  signal?: AbortSignal | undefined;
}

export interface ReadOptions {
  range?: ByteRange | undefined;
  etag?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Where the object is now, for a read that was interrupted and no longer finds it; null if it is gone. */
  findMoved?: (() => Promise<{ key: string; etag: string | undefined } | null>) | undefined;
}

/** A store with its records in the service's own database finishes uploads within the service's transaction. */
export interface TransactionalFinish {
  /** `startMultipart` with an id of the caller's. */
  startMultipart(tx: Queryable, upload: MultipartRef & { sizeBytes: number }): Promise<void>;
  finishPut(tx: Queryable, key: string): Promise<StoredObject | null>;
  finishMultipart(tx: Queryable, upload: FinishMultipart): Promise<FinishMultipartResult>;
  /** Renames a final object. False if there is none. */
  rename(tx: Queryable, fromKey: string, toKey: string): Promise<boolean>;
}

/** A store that receives bodies itself knows whether one is being received. */
export interface ArrivalWatch {
  isArriving(key: string): boolean;
}

/** A store on a local disk. Its files are for readers that send them whole or pass them to a proxy. */
export interface LocalFiles {
  /** The file of a final object, relative to the store's directory. Null as in `head`, or if it has several files. */
  findPath(key: string): Promise<string | null>;
  /**
   * Null as in `findPath`, and if `read` is the better way. The file is not verified here: a reader that finds another
   * size calls `read`, which handles that.
   */
  findFile(key: string): Promise<ObjectFile | null>;
}

/** A store that clients can read from directly. */
export interface DirectReads {
  /** A URL that serves a final object with these headers until it expires or the object is deleted. */
  presignGet(key: string, options: PresignGet): string;
}

/** A store outside our transactions: objects are renamed by copying and deleting. */
export interface Copies {
  /** Copies a final object; an earlier copy of it may exist. Null if there is no such object. */
  copy(fromKey: string, toKey: string): Promise<StoredObject | null>;
}

/** Lists what is in the store, to be compared with what should be. */
export interface Inventory {
  /** Objects and strays that have not changed since `before`, from a cursor on; the first one is empty. */
  list(cursor: string, before: number): Promise<InventoryPage>;
  removeStrays(names: string[]): Promise<void>;
}

/**
 * Objects that grow append by append, in an upload that `startMultipart` has opened. The caller keeps the progress, because
 * it knows which of several appends counts. One append at a time: a later one that starts from the same progress wins by
 * saving first.
 */
export interface Appends {
  /** Whether the bytes of one upload can be moved into another without copying them. */
  readonly joins?: JoinUploads;
  /**
   * Whether only this process appends, and what it does not save changes nothing. Then nobody needs to know that an append
   * has begun.
   */
  readonly needsNoLease: boolean;
  /** The state of an upload without bytes that will have this many at most. */
  start(sizeBytes: number): string;
  /**
   * Appends what the source yields and saves after each stretch that is durable. A source that ends early has its bytes
   * kept all the same.
   */
  append(upload: AppendTarget, source: AppendSource, save: SaveProgress): Promise<void>;
  /** Finalises all that was appended, which must be some bytes. May be repeated. */
  finish(upload: AppendTarget): Promise<FinishMultipartResult>;
  /** Removes what `abortMultipart` does not know of. */
  discard(upload: AppendTarget): Promise<void>;
}

/** Renumbers the parts of these uploads, in their order, as those of another that has none. Returns its state. */
export type JoinUploads = (tx: Queryable, uploadIds: string[], into: MultipartRef) => Promise<string>;

export interface Progress {
  /** The bytes that are durable. */
  offset: number;
  /** The store's state for continuing there. */
  state: string;
}

export interface AppendTarget extends MultipartRef, Progress {
  contentType: string;
}

export interface AppendSource {
  chunks: AsyncIterable<Buffer>;
  /** If known; used to reserve disk space. */
  expectedBytes: number;
  /** Whether the chunks are not used by anyone else afterwards. */
  isOwned: boolean;
  /** Once the chunks have ended: whether the object has all of its bytes. */
  isLast(): boolean;
  /**
   * Once the chunks have ended: how to save the last of them where the object has all of its bytes then. For a store that
   * finalises within the service's transaction, to confirm the file in the same one.
   */
  finish?: () => FinishAppend | null;
  /** Once the chunks have ended: throws if they are not what was announced. Then nothing of them is kept. */
  verify?: () => void;
}

/** Rejects if another request has taken the upload over. `work` is done with it or not at all. */
export type SaveProgress = (progress: Progress, work?: (tx: Queryable) => Promise<void>) => Promise<void>;

export type FinishAppend = (
  progress: Progress,
  seal: (tx: Queryable) => Promise<FinishMultipartResult>,
) => Promise<void>;

export interface InventoryPage {
  /** Keys of final objects. */
  keys: string[];
  /** Names of files that the store itself has no record of. */
  strays: string[];
  /** Null after the last page. */
  next: string | null;
}

/** A small object may be returned whole, which costs a reader far less than a stream. */
export type ObjectBytes = ObjectStream | Buffer;

export interface ObjectStream extends Readable {
  /** Recycles the memory of a chunk that the reader no longer needs. Calling it is optional. */
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

export interface PutPart extends MultipartRef {
  partNumber: number;
  bytes: Uint8Array;
}

export interface StoredObject {
  sizeBytes: number;
  /** Changes when the bytes change; without quotes. */
  etag: string;
  /** Hex; null if the store never saw the bytes in one piece. */
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

/** A part as reported by the client; the etag may have quotes. */
export interface ClaimedPart {
  partNumber: number;
  etag: string;
}

export type FinishMultipart = MultipartRef & { sizeBytes: number; parts: ClaimedPart[] };

export type FinishMultipartResult =
  | { ok: true; object: StoredObject }
  | {
      ok: false;
      problem:
        | "unknown-upload"
        | "missing-part"
        | "wrong-etag"
        | "wrong-size"
        | "too-large"
        | "part-too-small";
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

/** Every store that files may be in: the installation's own, and customers' buckets. */
export interface ObjectStores {
  /** The store with this name, as recorded on a file. Throws `UnknownStore` if there is none. */
  get(name: string): Promise<ObjectStore>;
}

/** Removed since, or from another installation: nothing in it is reachable, and nothing of ours is left in it. */
export class UnknownStore extends StorageUnavailable {}
