import type { Database, Queryable } from "../../db/database.ts";
import { AppError } from "../../kernel/errors.ts";
import type { StoredObject } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import type { Arrival, FreeSpace } from "./free-space.ts";
import { etagOf, finishObject, isOpenForPut, keepStaged, type SealedBlob } from "./object-records.ts";
import { findMultipart, keepPart, lockUpload, weighParts } from "./part-records.ts";
import type { PartTarget, SingleTarget, UploadTarget } from "./presigned-url.ts";
import { tooManyBytes, uploadEnded } from "./refusals.ts";
import { largestRowBytes } from "./small-blobs.ts";

export interface StagedUploads {
  /** Stages one body for its URL: checks first, then `writeBlob`, then the record, which decides. */
  stage(
    target: UploadTarget,
    arrival: Arrival,
    writeBlob: () => Promise<SealedBlob>,
  ): Promise<{ etag: string; key: string }>;
  /** Finalises the staged bytes of a key; null if there are none. */
  finish(tx: Queryable, key: string): Promise<StoredObject | null>;
  /** Whether a body or part for this key is being received; the key's tombstone must outlive it. */
  isArriving(key: string): boolean;
}

export function createStagedUploads(
  db: Database,
  files: BlobFiles,
  space: FreeSpace,
  now: () => number,
): StagedUploads {
  const arriving = new Map<string, number>();

  async function write(target: UploadTarget, writeBlob: () => Promise<SealedBlob>) {
    const sealed = await writeBlob();
    try {
      await files.remove(await record(db, target, sealed, now()));
    } catch (error) {
      // After any other failure the record may or may not exist; without one the sweeper removes the blob.
      if (error instanceof AppError && sealed.rowBytes === null) await files.remove([sealed.blob]);
      throw error;
    } finally {
      files.release(sealed.blob);
    }
    return { etag: etagOf(sealed.sha256) };
  }

  return {
    finish: finishObject,
    isArriving: (key) => arriving.has(key),
    async stage(target, arrival, writeBlob) {
      const { sizeBytes } = arrival;
      // Bytes that arrive with the request's headers are cheapest if awaited immediately.
      const measuring = space.admit(arrival);
      if (measuring !== undefined) await measuring;
      try {
        const key = needsNoAsking(target, sizeBytes) ? target.key : await getOpenKey(db, target, sizeBytes);
        arriving.set(key, (arriving.get(key) ?? 0) + 1);
        try {
          return { ...(await write(target, writeBlob)), key };
        } finally {
          const others = (arriving.get(key) ?? 0) - 1;
          if (others > 0) arriving.set(key, others);
          else arriving.delete(key);
        }
      } finally {
        space.release(arrival);
      }
    },
  };
}

/** Reading a small body costs less than checking whether it would be in vain. */
function needsNoAsking(target: UploadTarget, sizeBytes: number): target is SingleTarget {
  return target.kind === "single" && sizeBytes <= largestRowBytes;
}

/** Avoids reading a body in vain. The record, written in one guarded change, decides. */
async function getOpenKey(db: Database, target: UploadTarget, sizeBytes: number): Promise<string> {
  if (target.kind === "single") {
    if (!(await isOpenForPut(db, target.key))) throw uploadEnded();
    return target.key;
  }
  const upload = await findMultipart(db, target.uploadId);
  if (upload?.state !== "open") throw uploadEnded();
  const { othersBytes } = await weighParts(db, target);
  if (othersBytes + sizeBytes > upload.size_bytes) throw tooManyBytes();
  return upload.key;
}

/** Returns the replaced files. */
async function record(
  db: Database,
  target: UploadTarget,
  sealed: SealedBlob,
  now: number,
): Promise<string[]> {
  if (target.kind === "part") return recordPart(db, target, sealed, now);
  const replaced = await keepStaged(db, target.key, sealed, now);
  if (replaced === null) throw uploadEnded();
  return replaced;
}

function recordPart(db: Database, target: PartTarget, sealed: SealedBlob, now: number): Promise<string[]> {
  return db.transact(async (tx) => {
    const upload = await lockUpload(tx, target.uploadId);
    if (upload?.state !== "open") throw uploadEnded();
    const { othersBytes, replaced } = await weighParts(tx, target);
    if (othersBytes + sealed.sizeBytes > upload.size_bytes) throw tooManyBytes();
    await keepPart(tx, {
      ...sealed,
      uploadId: target.uploadId,
      partNumber: target.partNumber,
      now,
    });
    return replaced === null ? [] : [replaced];
  });
}
