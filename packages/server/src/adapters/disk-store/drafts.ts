import type { Database } from "../../db/database.ts";
import type { Draft } from "../../ports/object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import { explainDiskError } from "./disk-errors.ts";
import type { FreeSpace } from "./free-space.ts";
import { etagOf, keepFinal, type SealedBlob } from "./object-records.ts";

interface DraftOptions {
  now: () => number;
  leastBytes: number;
}

/** A temporary file that another process writes; only its name is taken here. */
export async function openDraft(
  db: Database,
  files: BlobFiles,
  space: FreeSpace,
  { now, leastBytes }: DraftOptions,
): Promise<Draft> {
  await space.ensure(0);
  const name = files.reserveTemp();
  let isKept = false;
  return {
    path: files.tempPath(name),
    leastBytes,
    async keep(key, { sizeBytes, sha256 }) {
      const blob = await files.sealSynced(name).catch((error) => {
        throw explainDiskError(error);
      });
      isKept = true;
      return recordFinal(db, files, key, { blob, sizeBytes, sha256, rowBytes: null }, now());
    },
    async discard() {
      if (!isKept) await files.discardTemp({ name });
    },
  };
}

/** Makes a sealed blob the final bytes of its key, and removes what it replaces. */
export async function recordFinal(
  db: Database,
  files: BlobFiles,
  key: string,
  sealed: SealedBlob,
  now: number,
) {
  try {
    await files.remove(await keepFinal(db, key, sealed, now));
  } finally {
    files.release(sealed.blob);
  }
  const { sizeBytes, sha256 } = sealed;
  return { sizeBytes, etag: etagOf(sha256), sha256 };
}
