import { join } from "node:path";
import type { Queryable } from "@upstow/server/db/database";
import { openSqlite } from "@upstow/server/db/sqlite/sqlite";
import type { Deps } from "@upstow/server/deps";
import { unlessReadOnly } from "@upstow/server/http/read-only";
import { type BackupReport, runBackup } from "@upstow/server/ops/backup/run-backup";
import { record } from "@upstow/server/projects/audit/record";
import { shardOf } from "@upstow/server/storage/disk/blob-name";
import { listBlobFiles, markBlob } from "@upstow/server/storage/disk/blob-records";

/** Tells the backup where the embedded store keeps its files. */
export async function backUpInstallation(
  deps: Pick<Deps, "config" | "db" | "now" | "author">,
  directory: string,
  options: { hardLinks: boolean; onProgress: (text: string) => void },
): Promise<BackupReport> {
  await unlessReadOnly(deps.db.transact((tx) => recordBackup(tx, deps, directory)));
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

/** Before anything is copied, so that none is taken without a trace. The copy has the entry too. */
function recordBackup(
  tx: Queryable,
  { now, author }: Pick<Deps, "now" | "author">,
  directory: string,
): Promise<void> {
  return record(tx, now(), author, {
    action: "installation.backed-up",
    target: { kind: "installation", id: "backup" },
    after: { target: directory },
  });
}
