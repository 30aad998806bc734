import type { Deps } from "../../deps.ts";
import { leaveReadOnly } from "../read-only/switch.ts";
import { renameStores, setState } from "./queries.ts";

/** How files and variants name the store that holds them. */
export const storeNames = { from: "disk", to: "s3" };

const batchSize = 5_000;

/** The rows follow their bytes. Killed in between, the next start goes on. */
export async function switchStorage({ db, log, now }: Pick<Deps, "db" | "log" | "now">): Promise<void> {
  await db.run(setState, { name: "storage", state: "switching", now: now() });
  await leaveReadOnly(db, "storage");
  for (const rename of renameStores) {
    for (let after = ""; ; ) {
      const renamed = await db.change(rename, { ...storeNames, after, take: batchSize });
      if (renamed.length === 0) break;
      after = renamed.reduce((last, { id }) => (id > last ? id : last), after);
    }
  }
  // What the disk's records and the journal were for is over. As a migration, which may take as long as it needs.
  await db.migrate(async (tx) => {
    for (const table of ["relocated_object", "disk_small_blob", "disk_part", "disk_object", "disk_store"]) {
      await tx.script(`DELETE FROM ${table}`);
    }
    await tx.run(setState, { name: "storage", state: "done", now: now() });
  });
  log.info("the files are served from the bucket now");
}
