import { createHash } from "node:crypto";
import type { Database } from "../../../db/database.ts";
import type { ObjectBytes } from "../../../storage/object-store.ts";
import { findVersion, putMoved } from "./queries.ts";
import {
  type DamageReason,
  type Digest,
  listSourceSegments,
  ObjectDamaged,
  type OpenSource,
  readPieces,
  type SourceObject,
} from "./read-object.ts";

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
        `the bucket does not give back what was put into it: ${object.key}, ${arrived?.sizeBytes ?? 0} bytes instead of ${object.size_bytes}`,
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
