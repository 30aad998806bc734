import type { Database } from "../../db/database.ts";
import type { Draft } from "../../ports/object-store.ts";
import type { BlobFiles } from "./blob-files.ts";
import type { FreeSpace } from "./free-space.ts";
import { etagOf, keepFinal } from "./object-records.ts";

interface DraftOptions {
  now: () => number;
  leastBytes: number;
}

/** A blob that another process writes; only its name is taken here. */
export async function openDraft(
  db: Database,
  files: BlobFiles,
  space: FreeSpace,
  { now, leastBytes }: DraftOptions,
): Promise<Draft> {
  await space.checkFloor();
  const blob = await files.reserve();
  let mayBeRecorded = false;
  return {
    path: files.pathOf(blob),
    leastBytes,
    async keep(key, { sizeBytes, sha256 }, record) {
      mayBeRecorded = true;
      const sealed = { blob, sizeBytes, sha256, rowBytes: null };
      const { replaced, recorded } = await db.transact(async (tx) => ({
        replaced: await keepFinal(tx, key, sealed, now()),
        recorded: await record(tx, { sizeBytes, etag: etagOf(sha256), sha256 }),
      }));
      await files.remove(replaced);
      return recorded;
    },
    async discard() {
      // Of a commit that failed nobody knows whether it came to pass; a sweep looks for the record first.
      if (!mayBeRecorded) await files.remove([blob]);
      files.release(blob);
    },
  };
}
