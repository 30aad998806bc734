import { mkdirSync } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { randomText } from "../../kernel/ids.ts";
import { type BlobFiles, createDirectorySync } from "./blob-files.ts";
import { listBlobs } from "./blob-records.ts";
import { hasCode } from "./damage.ts";

const findIdentity = statement((q, _: object) => q.selectFrom("disk_store").select("identity"));
const recordIdentity = statement((q, p: { identity: string }) =>
  q
    .insertInto("disk_store")
    .values({ id: 1, identity: p.identity, scrubbed_up_to: "" })
    // If instances start together on an empty database, the first one's identity wins.
    .onConflict((conflict) => conflict.column("id").doNothing()),
);

/**
 * Ties the directory to the database. Sweeping a full directory for an empty database would remove every blob, and an
 * unmounted disk would make every object look lost, so a mismatch aborts the start.
 */
export async function checkIdentity(db: Database, files: BlobFiles): Promise<void> {
  const path = join(files.root, "identity");
  const onDisk = await readFile(path, "utf8").catch((error) => {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  });
  const recorded = (await db.get(findIdentity, {}))?.identity ?? null;
  if (onDisk !== null && onDisk === recorded) return;

  const hasRecords = (await listBlobs(db, { after: "", before: "~", limit: 1 })).length > 0;
  const hasBlobs = (await files.listShards()).length > 0;
  if (recorded === null ? hasBlobs : hasRecords) {
    throw new Error(
      `the directory ${files.root} does not belong to this database; restore the two together, or move the directory away to start empty`,
    );
  }
  if (recorded === null) await db.run(recordIdentity, { identity: randomText(26) });
  const identity = recorded ?? (await db.get(findIdentity, {}))?.identity;
  if (identity === undefined) throw new Error("the identity of the object directory was not recorded");
  await writeDurably(path, identity, files.root);
}

async function writeDurably(path: string, text: string, directory: string): Promise<void> {
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await createDirectorySync()(directory);
}

export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

const sqliteBusy = 5;

/**
 * Keeps a second server process out of the directory. SQLite's file lock is the only lock available in Node that the
 * system releases when the process is killed. Nothing else may ever open the file: closing any other descriptor of it
 * in this process would release the lock.
 */
export function lockDataDir(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(directory, "server.lock"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== sqliteBusy) throw error;
    throw new DataDirInUse(`the data directory ${directory} is in use by another Upstow server`, {
      cause: error,
    });
  }
  return { release: () => lock.close() };
}
