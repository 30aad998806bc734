import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { readOrCreateSecret } from "../config/secret-file.ts";
import type { S3Config } from "../config/services.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { migrate } from "../db/migrate.ts";
import type { PostgresOptions } from "../db/postgres/postgres.ts";
import { openSqlite } from "../db/sqlite/sqlite.ts";
import type { Deps } from "../deps.ts";
import { ReadOnlyError, type ReadOnlyMode } from "../http/read-only.ts";
import { createOutboundGuard } from "../kernel/net/outbound-guard.ts";
import { isPlainHttp } from "../kernel/net/outbound-url.ts";
import type { RateLimiter } from "../kernel/rate-limiter.ts";
import { createKeyring, type Keyring } from "../kernel/security/keyring.ts";
import type { Background } from "../ops/background.ts";
import { maintainBucket, maintainDisk } from "../ops/storage-upkeep.ts";
import type { BucketCredentials, CustomerBuckets } from "../projects/customer-storage/customer-stores.ts";
import { servedType, typePolicy } from "../serving/safe-type.ts";
import { openDiskStore } from "../storage/disk/disk-store.ts";
import { lockDataDir } from "../storage/disk/identity.ts";
import { deferContinue } from "../storage/disk/refusals.ts";
import { presignedUploadRoutes, type UploadReceiver, uploadPath } from "../storage/disk/upload-receiver.ts";
import { type ObjectStore, StorageUnavailable } from "../storage/object-store.ts";
import { createS3Store, type S3Store } from "../storage/s3/s3-store.ts";

/** The configured database, migrated. Operator commands may open it while a server is running. */
export async function openDatabase(config: Config, options: PostgresOptions = {}): Promise<Database> {
  const { databaseUrl, dataDir } = config;
  const db = databaseUrl === null ? openEmbedded(dataDir) : await connect(databaseUrl, options);
  try {
    await migrate(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** An embedded installation never loads the driver. */
async function connect(url: string, options: PostgresOptions): Promise<Database> {
  const { openPostgres } = await import("../db/postgres/postgres.ts");
  return openPostgres(url, options);
}

function openEmbedded(dataDir: string): Database {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return openSqlite(embeddedPath(dataDir));
}

const embeddedPath = (dataDir: string) => join(dataDir, "upstow.db");

/** The data directory of an installation that uses PostgreSQL, or is about to. */
export function openFormer({ databaseUrl, dataDir }: Config): Database | null {
  const path = embeddedPath(dataDir);
  return databaseUrl !== null && existsSync(path) ? openSqlite(path) : null;
}

export function openKeyring(config: Config): Keyring {
  return createKeyring(config.secrets ?? [readOrCreateSecret(config.dataDir)]);
}

/** A store and what it needs from the server around it. */
export interface Storage {
  store: ObjectStore;
  addRoutes(http: FastifyInstance, limiter: RateLimiter, readOnly: ReadOnlyMode): void;
  keepHouse(background: Background): void;
  close(): Promise<void>;
}

export type StorageDeps = Pick<Deps, "config" | "db" | "keyring" | "log" | "now">;

export interface TransferOptions {
  idleMs: number | undefined;
  onSlowBody: () => void;
}

/** The configured store. */
export async function openStorage(deps: StorageDeps, transfers: TransferOptions): Promise<Storage> {
  const { s3 } = deps.config;
  return s3 === null ? openEmbeddedStorage(deps, transfers) : openBucket(deps, s3);
}

/** The data directory is locked against a second server. */
async function openEmbeddedStorage(deps: StorageDeps, transfers: TransferOptions): Promise<Storage> {
  const { config, db, keyring, log, now } = deps;
  const lock = lockDataDir(config.dataDir);
  try {
    const store = await openDiskStore({
      root: join(config.dataDir, "objects"),
      db,
      keyring,
      publicUrl: () => config.publicUrl,
      now,
      onDamage: (damage) => log.error({ damage }, "stored bytes are damaged and will not be served"),
      onSlowBody: transfers.onSlowBody,
      ...(transfers.idleMs === undefined ? {} : { idleMs: transfers.idleMs }),
    });
    return {
      store,
      addRoutes(http, limiter, readOnly) {
        deferContinue(http.server, (request) => request.url?.startsWith(uploadPath) ?? false);
        presignedUploadRoutes(http, refuseWhile(readOnly, store), limiter);
      },
      keepHouse: (background) => maintainDisk(store, background, deps),
      async close() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * The configured store for operators' commands, whether or not a service is running. Unlike the service's it is not
 * locked, so nothing is uploaded through it.
 */
export async function openStoreBeside(deps: Omit<StorageDeps, "log">): Promise<ObjectStore> {
  const { config, db, keyring, now } = deps;
  if (config.s3 !== null) return createBucketStore(config.s3);
  const root = join(config.dataDir, "objects");
  return openDiskStore({ root, db, keyring, publicUrl: () => config.publicUrl, now, onDamage: () => {} });
}

/** Don't read a body that could not be recorded. The database rejects one that is already being sent. */
function refuseWhile(readOnly: ReadOnlyMode, store: UploadReceiver): UploadReceiver {
  return {
    receive: (request, response) =>
      readOnly.isOn() ? Promise.reject(new ReadOnlyError()) : store.receive(request, response),
  };
}

/** The configured bucket as the service uses it. */
export function createBucketStore(s3: S3Config): S3Store {
  return createS3Store({
    ...s3,
    name: "s3",
    publicEndpoint: s3.publicEndpoint ?? s3.endpoint,
    headersOf: describeObject,
  });
}

/** A customer's bucket may be hostile: limit responses to about 1 MiB, and open few connections. */
const bucketBounds = { pageSize: 250, maxSockets: 128 };

/** Customers' buckets, behind the same address guard as their webhooks. */
export function createCustomerBuckets({ storageAllowCidrs }: Config): CustomerBuckets {
  const guard = createOutboundGuard({ allow: storageAllowCidrs });
  return {
    async judgeEndpoint(endpoint) {
      const check = await guard.checkUrl(endpoint);
      return check.ok ? null : check.reason;
    },
    open(name, place, credentials) {
      const { endpoint } = place;
      const url = endpoint === null ? null : new URL(endpoint);
      if (url !== null && guard.isRefusedLiteral(url))
        throw new StorageUnavailable(`the address in ${endpoint} is not public, and not allowed`);
      const access = { ...place, ...pickCredentials(credentials), publicEndpoint: endpoint };
      const lookup = url !== null && isPlainHttp(url) ? guard.plainLookup : guard.lookup;
      return createS3Store({
        ...access,
        ...bucketBounds,
        callee: "customer bucket",
        name,
        headersOf: describeObject,
        lookup,
      });
    },
  };
}

const pickCredentials = ({ accessKeyId, secretAccessKey }: BucketCredentials) => ({
  accessKeyId,
  secretAccessKey,
});

/** Responses straight from the bucket are as safe as the service's own. */
function describeObject(contentType: string) {
  return {
    contentType: servedType(contentType),
    contentDisposition: typePolicy(contentType).disposition,
  };
}

/** Clients upload directly to the bucket, so only an embedded database limits the service to one process. */
function openBucket(deps: StorageDeps, s3: S3Config): Storage {
  const { dataDir, databaseUrl } = deps.config;
  const lock = databaseUrl === null ? lockDataDir(dataDir) : null;
  const store = createBucketStore(s3);
  return {
    store,
    addRoutes() {},
    keepHouse: (background) => maintainBucket(store, background, deps),
    async close() {
      await store.close();
      lock?.release();
    },
  };
}
