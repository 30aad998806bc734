import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Database, Queryable } from "../../db/database.ts";
import { AppError } from "../../kernel/errors.ts";
import {
  type AppendSource,
  type Appends,
  type AppendTarget,
  type FinishAppend,
  type FinishMultipartResult,
  type SaveProgress,
  StorageUnavailable,
} from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import type { BlobWriter, OpenBlob } from "./blob-writer.ts";
import type { FreeSpace } from "./free-space.ts";
import { finishAppended } from "./multipart.ts";
import { finishWhole, type SealedBlob } from "./object-records.ts";
import { deletePartsOfKey, findLastPart, joinParts, keepPart, lockUpload } from "./part-records.ts";
import { uploadEnded } from "./refusals.ts";

/** A crash loses no more than this of a body that is still arriving. */
const stretchBytes = 64 * 1024 * 1024;
/**
 * A smaller last part is written again together with what follows, so that small appends don't use up the part numbers.
 * Parts grow with the file: 10 GB in appends of one byte have about 8,000.
 */
const smallPartBytes = (offset: number) => Math.max(256 * 1024, offset / 2_000);

/** The last part. */
interface Tail {
  partNumber: number;
  sizeBytes: number;
  sha256: string;
  blob: string;
}

const none: Tail = { partNumber: 0, sizeBytes: 0, sha256: "", blob: "" };

export const writeTail = ({ partNumber, sizeBytes, sha256, blob }: Tail): string =>
  [partNumber, sizeBytes, sha256, blob].join(" ");

function readTail(state: string): Tail {
  const [partNumber, sizeBytes, sha256 = "", blob = ""] = state.split(" ");
  return { partNumber: Number(partNumber), sizeBytes: Number(sizeBytes), sha256, blob };
}

interface Stretch {
  file: OpenBlob;
  partNumber: number;
  /** The blob that this one replaces. */
  replaced: string | null;
  /** Bytes that are new. */
  addedBytes: number;
}

/**
 * Every stretch becomes a part, in the order of its bytes, so that finishing the upload copies nothing. The only stretch of
 * a file becomes a single object.
 */
export function createDiskAppends(
  db: Database,
  files: BlobFiles,
  writer: BlobWriter,
  space: FreeSpace,
  now: () => number,
): Appends {
  async function begin(
    tail: Tail,
    { offset }: AppendTarget,
    { isOwned, expectedBytes, finish }: AppendSource,
  ): Promise<Stretch> {
    const isSmall = tail.partNumber > 0 && tail.sizeBytes < smallPartBytes(offset);
    const earlier = isSmall ? await readBlob(tail) : null;
    const mayBeObject = offset === 0 && finish !== undefined;
    const file = await writer.open({ isOwned, expectedBytes: mayBeObject ? expectedBytes : 0 });
    if (earlier === null) return { file, partNumber: tail.partNumber + 1, replaced: null, addedBytes: 0 };
    await file.push(earlier);
    return { file, partNumber: tail.partNumber, replaced: tail.blob, addedBytes: 0 };
  }

  async function readBlob({ blob, sha256 }: Tail): Promise<Buffer> {
    const bytes = await readFile(files.pathOf(blob)).catch((cause: unknown) => {
      throw new StorageUnavailable("a part of an upload cannot be read", { cause });
    });
    if (hash("sha256", bytes) === sha256) return bytes;
    throw new StorageUnavailable(`a part of an upload is damaged: ${blob}`);
  }

  async function keep(
    target: AppendTarget,
    stretch: Stretch,
    save: SaveProgress,
    finish: FinishAppend | null = null,
  ): Promise<Tail> {
    const { partNumber } = stretch;
    const isObject = finish !== null && partNumber === 1;
    const sealed = await stretch.file.seal(isObject);
    const tail = { ...sealed, partNumber };
    const progress = { offset: target.offset + stretch.addedBytes, state: writeTail(tail) };
    try {
      if (finish === null) await save(progress, (tx) => recordPart(tx, target.uploadId, partNumber, sealed));
      else if (isObject) await finish(progress, (tx) => recordWhole(tx, target, sealed));
      else
        await finish(progress, async (tx) => {
          await recordPart(tx, target.uploadId, partNumber, sealed);
          return finishAppended(tx, { ...target, ...progress }, now());
        });
      if (stretch.replaced !== null) await files.remove([stretch.replaced]);
    } catch (error) {
      // After any other failure the record may or may not exist; without one the sweeper removes the blob.
      if (error instanceof AppError && sealed.rowBytes === null) await files.remove([sealed.blob]);
      throw error;
    } finally {
      files.release(sealed.blob);
    }
    target.offset = progress.offset;
    return tail;
  }

  async function recordPart(
    tx: Queryable,
    uploadId: string,
    partNumber: number,
    sealed: SealedBlob,
  ): Promise<void> {
    if ((await lockUpload(tx, uploadId))?.state !== "open") throw uploadEnded();
    await keepPart(tx, { ...sealed, uploadId, partNumber, now: now() });
  }

  async function recordWhole(
    tx: Queryable,
    target: AppendTarget,
    sealed: SealedBlob,
  ): Promise<FinishMultipartResult> {
    if (target.offset > 0) await deletePartsOfKey(tx, target.key);
    const object = await finishWhole(tx, target, sealed, now());
    if (object === null) throw uploadEnded();
    return { ok: true, object };
  }

  return {
    needsNoLease: true,
    start: () => writeTail(none),

    async append(upload, source, save) {
      const { chunks, expectedBytes, verify } = source;
      const target = { ...upload };
      const expected = { sizeBytes: expectedBytes, receivedBytes: 0 };
      let tail = readTail(upload.state);
      let stretch: Stretch | null = null;
      await space.admit(expected);
      try {
        for await (const chunk of chunks) {
          const { length } = chunk;
          stretch ??= await begin(tail, target, source);
          await stretch.file.push(chunk);
          stretch.addedBytes += length;
          expected.receivedBytes = Math.min(expected.sizeBytes, expected.receivedBytes + length);
          if (stretch.addedBytes < stretchBytes || verify !== undefined) continue;
          const full = stretch;
          stretch = null;
          tail = await keep(target, full, save);
        }
        verify?.();
        if (stretch === null) return;
        const last = stretch;
        stretch = null;
        await keep(target, last, save, source.finish?.());
      } finally {
        space.release(expected);
        await stretch?.file.discard();
      }
    },

    finish: (upload) => db.transact((tx) => finishAppended(tx, upload, now())),

    discard: async () => {},

    async joins(tx, uploadIds, into) {
      await lockUpload(tx, into.uploadId);
      let last = none;
      for (const uploadId of uploadIds) {
        await lockUpload(tx, uploadId);
        const row = await findLastPart(tx, uploadId);
        if (row === null) continue;
        await joinParts(tx, { from: uploadId, into: into.uploadId, after: last.partNumber });
        const partNumber = last.partNumber + row.part_number;
        last = { partNumber, sizeBytes: row.size_bytes, sha256: row.sha256, blob: row.blob };
      }
      return writeTail(last);
    },
  };
}
