import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

const sqliteBusy = 5;

/**
 * Keeps a second server process out of the directory. SQLite's file lock is the one lock Node offers that the
 * system itself releases when the process is killed. Nothing else may ever open the file: closing any other
 * descriptor of it in this process would drop the lock.
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
