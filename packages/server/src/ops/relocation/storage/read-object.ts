import { createHash } from "node:crypto";
import type { Queryable } from "../../../db/database.ts";
import { listParts } from "./queries.ts";

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
export type OpenSource = (blob: string) => Promise<Iterable<Buffer> | AsyncIterable<Buffer> | null>;

export interface Digest {
  sizeBytes: number;
  sha256: string;
}

export type DamageReason = "known" | "missing" | "unreadable" | "wrong-size" | "wrong-checksum";

/** Bytes on disk that differ from what was stored. */
export class ObjectDamaged extends Error {
  override readonly name = "ObjectDamaged";
  readonly reason: DamageReason;
  constructor(reason: DamageReason, options?: ErrorOptions) {
    super(`the stored bytes are damaged: ${reason}`, options);
    this.reason = reason;
  }
}

export async function listSourceSegments(db: Queryable, object: SourceObject): Promise<Segment[]> {
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
export async function* readPieces(
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
