import { join } from "node:path";
import { shardOf } from "@upstow/server/adapters/disk-store/blob-name";
import { listFiles, markBlob } from "@upstow/server/adapters/disk-store/blob-records";
import { openSqlite } from "@upstow/server/adapters/sqlite";
import type { Deps } from "@upstow/server/deps";
import { type BackupReport, runBackup } from "@upstow/server/features/operations/backup/run-backup";

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
        list: listFiles,
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
