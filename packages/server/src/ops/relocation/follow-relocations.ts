import type { S3Config } from "../../config/services.ts";
import { ConfigError } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import type { RelocationRow } from "../../db/schema.ts";
import type { TableName } from "../../db/table-names.ts";
import type { Deps } from "../../deps.ts";
import { closeForGood, findRelocation, leaveReadOnly, listReasons } from "../../http/read-only.ts";
import { serviceAuthor } from "../../kernel/actor.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { changeState, recordMove, renameStores, setState, storeNames } from "./queries.ts";

type FollowDeps = Pick<Deps, "config" | "db" | "log" | "now">;

/** At startup, before anything else is opened: rejects a place that lacks part of the installation. */
export async function checkRelocations({
  config,
  db,
  log,
}: Pick<Deps, "config" | "db"> & { log: Pick<Deps["log"], "warn"> }): Promise<void> {
  const database = await db.get(findRelocation, { name: "database" });
  const storage = await db.get(findRelocation, { name: "storage" });
  const isMovedAway = db.dialect === "sqlite" && database?.state === "copied";
  if (db.dialect === "postgres") checkCopy(database);
  if (storage !== null && config.s3 === null) checkDisk(storage);
  if (storage !== null && config.s3 !== null) checkBucket(describeBucket(config.s3), storage);
  if (isMovedAway && storage?.state === "copied" && config.s3 !== null) {
    throw new ConfigError(
      `UPSTOW_DATABASE_URL must be set: the database was moved to ${database.target}, and the files to the bucket`,
    );
  }
  if (isMovedAway) {
    const { target } = database;
    log.warn({ target }, "this database was moved to PostgreSQL and is read-only; set UPSTOW_DATABASE_URL");
  }
}

function checkCopy(database: RelocationRow | null): void {
  if (database?.state === "copying") {
    throw new ConfigError(
      "UPSTOW_DATABASE_URL points to a database with an incomplete copy of the installation; run `upstow migrate database` again",
    );
  }
  if (database?.state === "abandoned") {
    throw new ConfigError(
      "UPSTOW_DATABASE_URL points to an abandoned copy that lacks later changes; unset the variable, or run `upstow migrate database` again",
    );
  }
}

function checkDisk({ state, target }: RelocationRow): void {
  if (state !== "switching" && state !== "done") return;
  throw new ConfigError(
    `UPSTOW_S3_BUCKET and the other UPSTOW_S3_ variables must be set: the files of this installation were moved to ${target}`,
  );
}

function checkBucket(bucket: string, { state, target }: RelocationRow): void {
  if (state === "copying") {
    throw new ConfigError(
      "UPSTOW_S3_BUCKET is set, but not all files are in the bucket; run `upstow migrate storage --finish`, or with --abort to stay on the disk",
    );
  }
  if ((state === "copied" || state === "switching") && target !== bucket) {
    throw new ConfigError(
      `UPSTOW_S3_BUCKET and the other UPSTOW_S3_ variables point to ${bucket}, but the files were copied to ${target}`,
    );
  }
}

/**
 * Switches to a place that everything was copied to. With an embedded database the caller holds the data directory's
 * lock, so no earlier process is running; with a shared one, such a process cannot change anything on disk.
 */
export async function followRelocations(deps: FollowDeps): Promise<void> {
  const { config, db, now } = deps;
  if (db.dialect === "postgres") {
    const change = { name: "database", from: "copied", to: "done", now: now() } as const;
    await db.transact(async (tx) => {
      const isSwitching = (await tx.run(changeState, change)) > 0;
      const move = await tx.get(findRelocation, { name: "database" });
      if (isSwitching && move !== null) await recordMove(tx, serviceAuthor, move);
    });
    // It may have been cancelled since the first check.
    checkCopy(await db.get(findRelocation, { name: "database" }));
  }
  const storage = await db.get(findRelocation, { name: "storage" });
  if (config.s3 !== null && (storage?.state === "copied" || storage?.state === "switching"))
    await switchStorage(deps);
}

/** Describes a bucket and its folder, for display and comparison; without credentials. */
export function describeBucket({ bucket, endpoint, region, prefix }: S3Config): string {
  return `s3://${bucket}/${prefix} at ${endpoint ?? `Amazon, ${region}`}`;
}

export function describeDatabase(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}`;
}

/** Opens the data directory's embedded database; null if there is none. */
type OpenFormer = () => Database | null;

/**
 * At startup on PostgreSQL. If the service started fresh on an empty database while the embedded one is being moved
 * there, it would create new keys for the same files, and leave no empty database for the move.
 */
export async function refuseEmptyTarget(db: Database, openFormer: OpenFormer): Promise<void> {
  if ((await db.get(findInstallation, {})) !== null) return;
  const former = openFormer();
  if (former === null) return;
  try {
    if (!(await isBeingMoved(former))) return;
  } finally {
    await former.close();
  }
  throw new ConfigError(
    "UPSTOW_DATABASE_URL points to an empty database while the installation in UPSTOW_DATA_DIR is being moved; run `upstow migrate database` first, or unset the variable",
  );
}

async function isBeingMoved(former: Database): Promise<boolean> {
  try {
    return (await former.all(listReasons, {})).length > 0;
  } catch {
    // A database that this version cannot read is not being moved by it.
    return false;
  }
}

const batchSize = 5_000;

const tablesOfDisk: TableName[] = ["disk_small_blob", "disk_part", "disk_object", "disk_store"];

/**
 * Points the rows at their new bytes, all at once and before anything may change again. If killed in between, the next
 * start does it.
 */
async function switchStorage({ db, log, now }: Pick<Deps, "db" | "log" | "now">): Promise<void> {
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
  log.info("files are now served from the bucket");
}
