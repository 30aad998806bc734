import { relative } from "node:path";
import type { Database } from "../../db/database.ts";
import type { ByteRange, LocalFiles, ObjectBytes, ObjectStore } from "../object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { isRowName } from "./blob-name.ts";
import { type BlobReader, smallBytes } from "./blob-reader.ts";
import { BlobDamaged, type ReportDamage } from "./damage.ts";
import { type FinalObject, findFinal } from "./object-records.ts";
import { listSegments, type Segment } from "./part-records.ts";

export interface Reads extends Pick<ObjectStore, "head" | "read"> {
  localFiles: LocalFiles;
}

export function createDiskReads(
  db: Database,
  files: BlobFiles,
  reader: BlobReader,
  report: ReportDamage,
): Reads {
  async function nullIfDamaged<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BlobDamaged)) throw error;
      await report(error);
      return null;
    }
  }

  return {
    async head(key) {
      const object = await findFinal(db, key);
      return object && { sizeBytes: object.sizeBytes, etag: object.etag, sha256: object.sha256 };
    },

    async read(key, options = {}): Promise<ObjectBytes | null> {
      const object = await findFinal(db, key);
      if (object === null) return null;
      const range = options.range ?? { start: 0, end: object.sizeBytes - 1 };
      const segments = await listSegmentsOf(db, object, range);
      return segments && nullIfDamaged(() => reader.read(segments, range, options.signal));
    },

    localFiles: {
      async findPath(key) {
        const file = await findSingleFile(db, key);
        if (file === null) return null;
        return nullIfDamaged(async () => {
          await reader.checkSize(file.blob, file.sizeBytes);
          return relative(files.root, files.pathOf(file.blob));
        });
      },

      async findFile(key) {
        const file = await findSingleFile(db, key);
        // Small blobs are verified whenever they are read here.
        if (file === null || file.sizeBytes <= smallBytes) return null;
        return { path: files.pathOf(file.blob), sizeBytes: file.sizeBytes };
      },
    },
  };
}

/** Null if it does not exist, is in a row, or in several files. */
async function findSingleFile(
  db: Database,
  key: string,
): Promise<{ blob: string; sizeBytes: number } | null> {
  const object = await findFinal(db, key);
  if (object === null || object.blob === null || isRowName(object.blob)) return null;
  return { blob: object.blob, sizeBytes: object.sizeBytes };
}

/** Null if the object was deleted between the two queries. */
async function listSegmentsOf(
  db: Database,
  object: FinalObject,
  range: ByteRange,
): Promise<Segment[] | null> {
  const { blob, sha256, sizeBytes, uploadId } = object;
  if (blob !== null) return [{ blob, sizeBytes, sha256: sha256 ?? "", startByte: 0 }];
  if (uploadId === null) return null;
  const segments = await listSegments(db, { uploadId, ...range });
  return segments.length === 0 && sizeBytes > 0 ? null : segments;
}
