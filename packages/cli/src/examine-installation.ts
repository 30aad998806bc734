import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRowName, shardOf } from "@upstow/server/adapters/disk-store/blob-name";
import { createUploadTokens } from "@upstow/server/adapters/disk-store/presigned-url";
import { uploadPath } from "@upstow/server/adapters/disk-store/upload-receiver";
import { openPostgres } from "@upstow/server/adapters/postgres";
import { tryRedis } from "@upstow/server/adapters/rate-limiter/try-redis";
import { openSqlite } from "@upstow/server/adapters/sqlite";
import { createBucketStore } from "@upstow/server/compose";
import { type Config, ConfigError } from "@upstow/server/config";
import type { Database } from "@upstow/server/db/database";
import type { Check } from "@upstow/server/features/operations/doctor/check";
import { runDoctor } from "@upstow/server/features/operations/doctor/run-doctor";
import type { Keyring } from "@upstow/server/security/keyring";
import { findKeyring } from "./find-keyring.ts";
import { databasePath, hasDatabase } from "./with-database.ts";

/** Gives the doctor what this configuration stands on, without making any of it. */
export async function examineInstallation(
  readConfig: () => Config,
  options: { mend: boolean } = { mend: false },
): Promise<Check[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix = "Correct the variable; until then the service does not start.";
    return [{ name: "configuration", status: "failed", message: `${error.message}.`, fix }];
  }
  const keyring = findKeyring(config);
  const { redisUrl } = config;
  const bucket = config.s3 === null ? null : createBucketStore(config.s3);
  const checks = await runDoctor({
    config,
    openDatabase: hasDatabase(config) ? () => openAsItIs(config) : null,
    isLeftBehind: config.databaseUrl !== null && existsSync(databasePath(config)),
    keyring,
    expiredUploadUrl: keyring === null || config.s3 !== null ? null : signExpiredUpload(config, keyring),
    blobPath: (blob) => (isRowName(blob) ? null : join("blobs", shardOf(blob), blob)),
    bucket: bucket && { ...bucket, name: `${config.s3?.bucket}` },
    tryRedis: redisUrl === null ? null : () => tryRedis(redisUrl),
    mend: options.mend,
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

function signExpiredUpload(config: Config, keyring: Keyring): string {
  const tokens = createUploadTokens(keyring.keysFor("presigned upload"));
  const target = { kind: "part", uploadId: "doctor", partNumber: 1, maxBytes: 0, expiresAt: 0 } as const;
  return `${config.publicUrl}${uploadPath}${tokens.sign(target)}`;
}
