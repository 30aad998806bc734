import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { type Check, createChecks } from "./check.ts";
import { checkClock, checkConfiguration, checkProxies, checkSecret } from "./check-configuration.ts";
import { checkDataDirectory, checkLeftovers } from "./check-data-directory.ts";
import { checkDatabase } from "./check-database.ts";
import { checkMove } from "./check-move.ts";
import { checkRenderers } from "./check-renderers.ts";
import { checkMetrics, checkRedis, checkScanner } from "./check-services.ts";
import { type BlobPath, type Bucket, checkBucket, checkStorage } from "./check-storage.ts";
import { checkTls, checkUrls } from "./check-urls.ts";

export interface DoctorDeps {
  config: Config;
  /** Opens the database without migrating; null if the service was never started. */
  openDatabase: (() => Database) | null;
  /** Whether the data directory contains an embedded installation although PostgreSQL is configured. */
  isLeftBehind: boolean;
  /** Null if there is no secret yet. */
  keyring: Keyring | null;
  blobPath: BlobPath;
  /** Null if files are on disk. */
  bucket: Bucket | null;
  /** Throws if Redis cannot be used; null if none is configured. */
  tryRedis: (() => Promise<void>) | null;
  /** Fix what can be fixed from here. */
  mend: boolean;
  /** Starts a sandboxed program, which takes longer than everything else. */
  withRenderers: boolean;
  now: () => number;
}

/** Checks everything the service depends on; changes nothing unless asked to fix it. */
export async function runDoctor(deps: DoctorDeps): Promise<Check[]> {
  const { config, keyring, now } = deps;
  const checks = [...checkConfiguration(config), ...(await checkDataDirectory(config))];
  checks.push(...(await checkDatabaseAndWhatNeedsIt(deps)));
  if (deps.tryRedis !== null) checks.push(await checkRedis(deps.tryRedis));
  if (deps.bucket !== null) checks.push(...(await checkBucket(deps.bucket, deps)));
  checks.push(...(await checkScanner(config.clamd, now())));
  if (deps.withRenderers) checks.push(...(await checkRenderers(config)));
  checks.push(...checkTls(config, now()));
  checks.push(...checkProxies(config));
  checks.push(...(await checkUrls(config, keyring)));
  checks.push(...(await checkMetrics(config)));
  return checks;
}

async function checkDatabaseAndWhatNeedsIt(deps: DoctorDeps): Promise<Check[]> {
  const { config, now } = deps;
  const { failed, warning } = createChecks("database");
  if (deps.openDatabase === null) {
    return [warning(`${config.dataDir} has no database yet.`, "Start the service once with npm start.")];
  }
  let db: Database;
  try {
    db = deps.openDatabase();
  } catch (error) {
    return [
      failed(
        `It cannot be opened: ${(error as Error).message}.`,
        "Restore the last backup, or fix the file's permissions.",
      ),
    ];
  }
  try {
    const { checks, isUsable } = await checkDatabase(db, deps.isLeftBehind);
    if (!isUsable) return checks;
    checks.push(...(await checkSecret(db, config, deps.keyring)));
    checks.push(...(await checkMove(db, config)));
    checks.push(...(await checkClock(db, now())));
    checks.push(...(await checkStorage(db, config, deps.blobPath)));
    checks.push(...(await checkLeftovers(db, config.dataDir, now())));
    return checks;
  } finally {
    await db.close();
  }
}
