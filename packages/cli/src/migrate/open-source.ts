import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "@upstow/server/app/compose";
import type { Config } from "@upstow/server/config";
import type { Database } from "@upstow/server/db/database";
import { statement } from "@upstow/server/db/statement";
import { findRelocation } from "@upstow/server/http/read-only";
import { DataDirInUse, lockDataDir } from "@upstow/server/storage/disk/identity";
import { OperatorError } from "../command.ts";
import { databasePath } from "../with-database.ts";

const findIdentity = statement((q, _: object) => q.selectFrom("disk_store").select("identity"));

/** Runs `work` while no other move can use the data directory; a service may. */
export async function alone<T>(config: Config, work: () => Promise<T>): Promise<T> {
  const lock = lockMoves(config.dataDir);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function lockMoves(dataDir: string): { release(): void } {
  if (!existsSync(dataDir)) throw noInstallation(dataDir);
  try {
    return lockDataDir(join(dataDir, "migrate"));
  } catch (error) {
    if (!(error instanceof DataDirInUse)) throw error;
    throw new OperatorError(
      "IN_USE",
      `Another \`upstow migrate\` is running on ${dataDir}. Wait for it to finish.`,
    );
  }
}

export async function openEmbedded(config: Config): Promise<Database> {
  if (!existsSync(databasePath(config))) throw noInstallation(config.dataDir);
  return openDatabase({ ...config, databaseUrl: null });
}

/** Some statements scan every object, and there may be hundreds of millions. */
const statementMs = 3_600_000;

/**
 * The database that belongs to the files in the data directory: the embedded one, unless it was moved to PostgreSQL or
 * never used. The directory itself records which, so a stale database is never mistaken for it.
 */
export async function openDatabaseOfFiles(config: Config): Promise<Database> {
  const identity = await readFile(join(config.dataDir, "objects", "identity"), "utf8").catch(() => null);
  if (identity === null) throw noFiles(config.dataDir);
  if (existsSync(databasePath(config))) {
    const embedded = await openEmbedded(config);
    const isMoved = (await embedded.get(findRelocation, { name: "database" }))?.state === "copied";
    if (!isMoved && (await isOf(embedded, identity))) return embedded;
    await embedded.close();
  }
  if (config.databaseUrl === null) {
    throw new OperatorError(
      "NOT_FOUND",
      `Cannot find the database for the files in ${config.dataDir}. Set UPSTOW_DATABASE_URL to the service's value.`,
    );
  }
  const shared = await openDatabase(config, { statementMs });
  if (await isOf(shared, identity)) return shared;
  await shared.close();
  throw noFiles(config.dataDir);
}

/** Once files are in a bucket, no directory belongs to the database; then the move itself knows. */
async function isOf(db: Database, identity: string): Promise<boolean> {
  const recorded = (await db.get(findIdentity, {}))?.identity;
  return recorded === identity || (await db.get(findRelocation, { name: "storage" })) !== null;
}

function noInstallation(dataDir: string): OperatorError {
  return new OperatorError(
    "NOT_FOUND",
    `There is no embedded installation in ${dataDir}. Set UPSTOW_DATA_DIR to the service's value.`,
  );
}

function noFiles(dataDir: string): OperatorError {
  return new OperatorError(
    "NOT_FOUND",
    `There are no files of this installation in ${dataDir}. Set UPSTOW_DATA_DIR to the service's value.`,
  );
}
