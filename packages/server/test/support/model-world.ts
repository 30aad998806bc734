import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "@upstow/contract";
import { pickFreePort } from "../../../../test/support/free-port.ts";
import { dropConnections } from "./fetch-connections.ts";
import { createMigratedDatabase } from "./migrated-database.ts";
import { assertCountersMatch } from "./recount.ts";
import { type DatabaseKind, startApp, type Tenant, type TestApp } from "./start-app.ts";
import { bucketEnv } from "./test-bucket.ts";
import { createUploadClient, type UploadClient } from "./upload-client.ts";

export interface SignedUrl {
  address: string;
  expiresAt: number;
}

/** All that the model knows of a file. Times are the service's. */
export interface ModelFile {
  environment: Environment;
  id: string;
  key: string;
  status: "UPLOADING" | "UPLOADED" | "FAILED" | "DELETED" | "REMOVED";
  sizeBytes: number;
  /** A bucket took more parts than were announced, and the upload there was ended when they were to be put together. */
  isOverfull: boolean;
  metadata: Record<string, unknown>;
  /** Of a single upload: the last whole body. */
  body: Buffer | null;
  /** By part number; a single upload has its only URL under 0. */
  urls: Map<number, SignedUrl>;
  uploadId: string | null;
  parts: Map<number, { bytes: Buffer; etag: string }>;
  /** How long it stays open without a byte. */
  emptyUntil: number;
  /** The last byte, or the last signing after a byte. */
  lastActivity: number | null;
}

export interface Model {
  files: ModelFile[];
  uploads: Record<Environment, number>;
}

/** One history: its own project, in an app that all histories share, so that a restart meets old data too. */
export interface Real {
  world: World;
  store: StoreKind;
  tenant: Tenant;
  steps: number;
  client(environment: Environment): UploadClient;
}

/** A bucket goes by its own clock and takes what it has signed for until that ends. */
export type StoreKind = "disk" | "s3";

export interface World {
  readonly app: TestApp;
  beginHistory(): Promise<Real>;
  /** Ends the app and starts another on what it left. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function createWorld(database: DatabaseKind, store: StoreKind = "disk"): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-model-"));
  const postgres = database === "postgres" ? await createMigratedDatabase() : null;
  const reuse = postgres === null ? { dataDir } : { dataDir, databaseUrl: postgres.url };
  // One address for all of them: URLs that were handed out before a restart have to go on working.
  const port = { UPSTOW_PORT: String(await pickFreePort()) };
  const env = store === "s3" ? { ...port, ...(await bucketEnv(dataDir)) } : port;
  const start = async (timeMs: number) => {
    const app = await startApp({ database, reuse, env });
    if (store === "disk") app.clock.setTime(timeMs);
    return app;
  };
  let app = await start(Date.now());

  const world: World = {
    get app() {
      return app;
    },
    async beginHistory() {
      const tenant = await app.createTenant("pro");
      const client = (environment: Environment) => createUploadClient(app, tenant[environment]);
      return { world, store, tenant, steps: 0, client };
    },
    async restart() {
      const timeMs = app.clock.now();
      await app.close();
      await dropConnections();
      app = await start(timeMs);
    },
    async close() {
      await app.close();
      await postgres?.drop();
      await rm(dataDir, { recursive: true });
    },
  };
  return world;
}

export const isShown = (file: ModelFile) => file.status !== "DELETED" && file.status !== "REMOVED";

/** What a client can see must be what the model says: the lists, each file, its bytes and the counters. */
export async function assertModelHolds(model: Model, real: Real): Promise<void> {
  for (const environment of ["live", "test"] as const) {
    const client = real.client(environment);
    const files = model.files.filter((file) => file.environment === environment);
    await assertListed(client, files.filter(isShown));
    for (const file of files) await assertFile(real, client, file);
  }
  await assertCountersMatch(real.world.app, real.tenant.projectId, model.uploads);
}

export async function assertListed(client: UploadClient, shown: ModelFile[]): Promise<void> {
  const listed: string[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: { files: { id: string; status: string }[]; nextCursor: string | null } } =
      await client.list(`?limit=3${cursor === null ? "" : `&cursor=${cursor}`}`);
    listed.push(...body.files.map((file) => `${file.id} ${file.status}`));
    cursor = body.nextCursor;
  } while (cursor !== null);
  const expected = shown.map((file) => `${file.id} ${file.status}`);
  assert.deepEqual(listed, expected.sort().reverse());
}

async function assertFile(real: Real, client: UploadClient, file: ModelFile): Promise<void> {
  const answer = await client.get(file.key);
  assert.equal(answer.status, isShown(file) ? 200 : 404);
  if (isShown(file)) assert.deepEqual(answer.body.file.metadata, file.metadata);
  const served = await fetch(`${real.world.app.url}/f/${file.key}`);
  const bytes = Buffer.from(await served.arrayBuffer());
  assert.equal(served.status, file.status === "UPLOADED" ? 200 : 404);
  if (file.status === "UPLOADED") assert.ok(bytes.equals(bytesOf(file)), "the bytes that were confirmed");
}

/** What a confirmed file consists of. */
export function bytesOf(file: ModelFile): Buffer {
  if (file.uploadId === null) return file.body ?? Buffer.alloc(0);
  const parts = [...file.parts].sort(([a], [b]) => a - b);
  return Buffer.concat(parts.map(([, part]) => part.bytes));
}
