import { join } from "node:path";
import { openSqlite } from "@upstow/server/db/sqlite/sqlite";
import type { Deps } from "@upstow/server/deps";
import { type BackupReport, runBackup } from "@upstow/server/ops/backup/run-backup";
import { shardOf } from "@upstow/server/storage/disk/blob-name";
import { listBlobFiles, markBlob } from "@upstow/server/storage/disk/blob-records";

/** Tells the backup where the embedded store keeps its files. */
export function backUpInstallation(
  deps: Pick<Deps, "config" | "db" | "now">,
  directory: string,
  options: { hardLinks: boolean; onProgress: (text: string) => void },
): Promise<BackupReport> {
  return runBackup(
    {
      ...deps,
      catalog: {
        pathOf: (blob) => join("blobs", shardOf(blob), blob),
        list: listBlobFiles,
        markDamaged: (db, blob) => markBlob(db, blob, 1),
      },
      openSnapshot: openSqlite,
      onProgress: (copied, planned) =>
        options.onProgress(
          `${copied.objects} of ${planned.objects} files, ${copied.bytes} of ${planned.bytes} bytes`,
        ),
    },
    directory,
    { hardLinks: options.hardLinks },
  );
}
