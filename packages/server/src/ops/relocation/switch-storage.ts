import type { Database } from "../../db/database.ts";
import type { TableName } from "../../db/table-names.ts";
import type { Deps } from "../../deps.ts";
import { closeForGood, findRelocation, leaveReadOnly } from "../../http/read-only.ts";
import { serviceAuthor } from "../../kernel/actor.ts";
import { AppError } from "../../kernel/errors.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { changeState, recordMove, renameStores, setState } from "./queries.ts";

/** The name of the store in files and variants. */
export const storeNames = { from: "disk", to: "s3" };

const batchSize = 5_000;

const tablesOfDisk: TableName[] = ["disk_small_blob", "disk_part", "disk_object", "disk_store"];

/**
 * Points the rows at their new bytes, all at once and before anything may change again. If killed in between, the next
 * start does it.
 */
export async function switchStorage({ db, log, now }: Pick<Deps, "db" | "log" | "now">): Promise<void> {
  await db.run(changeState, { name: "storage", from: "copied", to: "switching", now: now() });
  await leaveReadOnly(db, "storage", async (tx) => {
    // Another instance was first.
    const move = await tx.get(findRelocation, { name: "storage" });
    if (move === null || move.state === "done") return;
    for (const rename of renameStores) {
      for (let after = ""; ; ) {
        const renamed = await tx.all(rename, { ...storeNames, after, take: batchSize });
        if (renamed.length === 0) break;
        after = renamed.reduce((last, { id }) => (id > last ? id : last), after);
      }
    }
    // The disk's records and the journal are no longer needed.
    for (const table of ["relocated_object", ...tablesOfDisk]) await tx.script(`DELETE FROM ${table}`);
    // With a shared database, another process may still use the disk, and files it received now would be lost.
    if (db.dialect === "postgres") await tx.script(closeForGood(tablesOfDisk));
    const done = { name: "storage", state: "done", now: now() } as const;
    await tx.run(setState, done);
    await recordMove(tx, serviceAuthor, { ...move, state: "done", changed_at: done.now });
  });
  log.info("the files are served from the bucket now");
}

/** Identifies the installation. Throws if the service was never started. */
export async function getInstallationId(db: Database): Promise<string> {
  const installation = await db.get(findInstallation, {});
  if (installation !== null) return installation.owner_account_id;
  throw new AppError("NOT_FOUND", "The service was never started here, so there is nothing to move.", {
    suggestion: "Check UPSTOW_DATA_DIR.",
  });
}
