import { createHash } from "node:crypto";
import type { Database, Queryable } from "../../../db/database.ts";
import type { ObjectBytes } from "../../../storage/object-store.ts";
import { findVersion, listParts, putMoved } from "./queries.ts";

export interface CopyDeps {
  db: Database;
  target: BucketTarget;
  openBlob: OpenSource;
}

export type ObjectCopyOutcome = "copied" | "gone" | { damaged: DamageReason };

const mostAttempts = 3;

/**
 * Every byte is verified against the record when read from disk, and read back from the bucket. Only then is it
 * recorded in the journal.
 */
export async function copyObject(
  deps: CopyDeps,
  object: SourceObject,
  as: TargetObject,
): Promise<ObjectCopyOutcome> {
  if (object.damaged !== 0) return { damaged: "known" };
  try {
    await transfer(deps, object, as);
  } catch (error) {
    if (!(error instanceof ObjectDamaged)) throw error;
    const isGone = (await deps.db.get(findVersion, object))?.version !== object.version;
    return isGone ? "gone" : { damaged: error.reason };
  }
  if (!as.isStaged) {
    const { key, version, size_bytes: sizeBytes } = object;
    await deps.db.run(putMoved, { key, version, sizeBytes, etag: await deps.target.findEtag(key) });
  }
  return "copied";
}

async function transfer(deps: CopyDeps, object: SourceObject, as: TargetObject): Promise<void> {
  const segments = await listSourceSegments(deps.db, object);
  for (let attempt = 1; ; attempt++) {
    let sent: Digest | null = null;
    async function* pieces() {
      sent = yield* readPieces(segments, deps.openBlob, object.size_bytes);
    }
    await deps.target.put(as, pieces());
    const arrived = await readBack(deps.target, as, object.size_bytes);
    if (isSame(sent, arrived)) return;
    if (attempt >= mostAttempts) {
      throw new Error(
        `the bucket does not return what was written to it: ${object.key}, ${arrived?.sizeBytes ?? 0} bytes instead of ${object.size_bytes}`,
      );
    }
  }
}

function isSame(sent: Digest | null, arrived: Digest | null): boolean {
  return (
    sent !== null &&
    arrived !== null &&
    sent.sizeBytes === arrived.sizeBytes &&
    sent.sha256 === arrived.sha256
  );
}

/** Reads at most one chunk more than was sent, which is enough to detect a difference. */
async function readBack(
  target: BucketTarget,
  object: TargetObject,
  sentBytes: number,
): Promise<Digest | null> {
  const bytes = await target.read(object);
  if (bytes === null) return null;
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const chunk of Buffer.isBuffer(bytes) ? [bytes] : (bytes as AsyncIterable<Buffer>)) {
    hash.update(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > sentBytes) break;
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

interface TargetObject {
  key: string;
  contentType: string;
  /** A body that has arrived but whose upload is not completed yet. */
  isStaged: boolean;
}

/** The bucket, which nothing else uses until the service is started on it. */
export interface BucketTarget {
  /** Describes it, without credentials. */
  description: string;
  isEmpty(): Promise<boolean>;
  /** Pieces are in order, and all but the last have at least 5 MiB. The object is written completely or not at all. */
  put(object: TargetObject, pieces: AsyncIterable<Uint8Array>): Promise<void>;
  read(object: Pick<TargetObject, "key" | "isStaged">): Promise<ObjectBytes | null>;
  list(): AsyncGenerator<{ key: string; sizeBytes: number }>;
  /** Null if there is no such object. */
  findEtag(key: string): Promise<string | null>;
  delete(keys: string[]): Promise<void>;
  /** Removes staged bodies and multipart uploads left by an earlier run. */
  clearLeftovers(): Promise<void>;
}

/** A record of the embedded store. */
export interface SourceObject {
  key: string;
  /** Null for a single-request object. */
  upload_id: string | null;
  size_bytes: number;
  sha256: string | null;
  blob: string | null;
  damaged: number;
  version: string;
}

interface Segment {
  blob: string;
  size_bytes: number;
  sha256: string;
}

/** The bytes of a blob, wherever the embedded store keeps it. Null, or ENOENT while reading, if it is missing. */
type OpenSource = (blob: string) => Promise<Iterable<Buffer> | AsyncIterable<Buffer> | null>;

interface Digest {
  sizeBytes: number;
  sha256: string;
}

export type DamageReason = "known" | "missing" | "unreadable" | "wrong-size" | "wrong-checksum";

/** Bytes on disk that differ from what was stored. */
class ObjectDamaged extends Error {
  override readonly name = "ObjectDamaged";
  readonly reason: DamageReason;
  constructor(reason: DamageReason, options?: ErrorOptions) {
    super(`the stored bytes are damaged: ${reason}`, options);
    this.reason = reason;
  }
}

async function listSourceSegments(db: Queryable, object: SourceObject): Promise<Segment[]> {
  const { blob, upload_id: uploadId, size_bytes, sha256 } = object;
  if (uploadId !== null) return db.all(listParts, { uploadId });
  return blob === null ? [] : [{ blob, size_bytes, sha256: sha256 ?? "" }];
}

const smallestPieceBytes = 8 * 1024 * 1024;
/** S3 accepts 10,000 parts. */
const mostPieces = 9_000;

/**
 * The object in pieces, at least one. The last one is yielded only after every byte was verified, so a caller that
 * keeps only complete reads never keeps damaged bytes. Returns what was read.
 */
async function* readPieces(
  segments: Segment[],
  openBlob: OpenSource,
  sizeBytes: number,
): AsyncGenerator<Buffer, Digest> {
  const pieceBytes = Math.max(smallestPieceBytes, Math.ceil(sizeBytes / mostPieces));
  const whole = createHash("sha256");
  let kept: Buffer[] = [];
  let [keptBytes, readBytes] = [0, 0];
  for (const segment of segments) {
    for await (const chunk of readSegment(segment, openBlob)) {
      whole.update(chunk);
      readBytes += chunk.length;
      kept.push(chunk);
      keptBytes += chunk.length;
      if (keptBytes <= pieceBytes) continue;
      const joined = Buffer.concat(kept);
      yield joined.subarray(0, pieceBytes);
      kept = [joined.subarray(pieceBytes)];
      keptBytes -= pieceBytes;
    }
  }
  if (readBytes !== sizeBytes) throw new ObjectDamaged("wrong-size");
  yield Buffer.concat(kept);
  return { sizeBytes: readBytes, sha256: whole.digest("hex") };
}

async function* readSegment(segment: Segment, openBlob: OpenSource): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let readBytes = 0;
  const chunks = await openBlob(segment.blob);
  if (chunks === null) throw new ObjectDamaged("missing");
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      readBytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new ObjectDamaged("missing", { cause: error });
    if (code === "EIO") throw new ObjectDamaged("unreadable", { cause: error });
    throw error;
  }
  if (readBytes !== segment.size_bytes) throw new ObjectDamaged("wrong-size");
  if (hash.digest("hex") !== segment.sha256) throw new ObjectDamaged("wrong-checksum");
}
