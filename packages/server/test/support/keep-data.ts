import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "../../../../test/support/postgres.ts";
import type { DatabaseKind, StartOptions } from "./start-app.ts";
import { bucketEnv, onDisk } from "./test-bucket.ts";

export interface KeptData {
  /** Give it to `startApp`: what one app wrote, the next one finds. */
  reuse: NonNullable<StartOptions["reuse"]>;
  remove(): Promise<void>;
}

/** A data directory and a database that outlive the app started on them. */
export async function keepData(kind: DatabaseKind): Promise<KeptData> {
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-kept-"));
  const database = kind === "postgres" ? await createTestDatabase() : null;
  return {
    reuse: { dataDir, ...(database === null ? {} : { databaseUrl: database.url }) },
    async remove() {
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** For the program itself, started on it. */
export async function envOf({ reuse: { dataDir, databaseUrl } }: KeptData): Promise<Record<string, string>> {
  return {
    UPSTOW_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { UPSTOW_DATABASE_URL: databaseUrl }),
    ...(onDisk ? {} : await bucketEnv(databaseUrl ?? dataDir)),
  };
}
