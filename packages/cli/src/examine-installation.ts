import { existsSync } from "node:fs";
import { join } from "node:path";
import { createBucketStore } from "@upstow/server/app/compose";
import { type Config, ConfigError } from "@upstow/server/config";
import type { Database } from "@upstow/server/db/database";
import { openPostgres } from "@upstow/server/db/postgres/postgres";
import { openSqlite } from "@upstow/server/db/sqlite/sqlite";
import { tryRedis } from "@upstow/server/http/rate-limiter/redis";
import type { Check } from "@upstow/server/ops/doctor/check";
import { runDoctor } from "@upstow/server/ops/doctor/run-doctor";
import { isRowName, shardOf } from "@upstow/server/storage/disk/blob-name";
import { findKeyring } from "./find-keyring.ts";
import { databasePath, hasDatabase } from "./with-database.ts";

/** Opens everything this configuration depends on for the doctor, without creating any of it. */
export async function examineInstallation(
  readConfig: () => Config,
  { mend = false, withRenderers = true }: { mend?: boolean; withRenderers?: boolean } = {},
): Promise<Check[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "Correct the variable; until then the service does not start.";
    return [{ name: "configuration", status: "failed", message: `${error.message}.`, fix }];
  }
  const { redisUrl } = config;
  const bucket = config.s3 === null ? null : createBucketStore(config.s3);
  const checks = await runDoctor({
    config,
    openDatabase: hasDatabase(config) ? () => openAsItIs(config) : null,
    isLeftBehind: config.databaseUrl !== null && existsSync(databasePath(config)),
    keyring: findKeyring(config),
    blobPath: (blob) => (isRowName(blob) ? null : join("blobs", shardOf(blob), blob)),
    bucket: bucket && { ...bucket, name: `${config.s3?.bucket}` },
    tryRedis: redisUrl === null ? null : () => tryRedis(redisUrl),
    mend,
    withRenderers,
    now: Date.now,
  });
  await bucket?.close();
  return checks;
}

function openAsItIs(config: Config): Database {
  return config.databaseUrl === null
    ? openSqlite(databasePath(config))
    : openPostgres(config.databaseUrl, { maxConnections: 1 });
}
