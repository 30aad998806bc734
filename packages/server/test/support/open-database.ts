import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase } from "../../../../test/support/postgres.ts";
import type { Database } from "../../src/db/database.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/postgres/postgres.ts";
import { openSqlite } from "../../src/db/sqlite/sqlite.ts";
import type { DatabaseKind } from "./start-app.ts";

export interface TestDatabase {
  db: Database;
  /** The path of the file or the URL of the server. */
  place: string;
  close(): Promise<void>;
}

export async function openTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  const opened = kind === "sqlite" ? await openFile() : await openServer();
  await migrate(opened.db);
  return opened;
}

async function openFile(): Promise<TestDatabase> {
  const dir = await mkdtemp(join(tmpdir(), "upstow-db-"));
  const place = join(dir, "upstow.db");
  const db = openSqlite(place);
  return {
    db,
    place,
    async close() {
      await db.close();
      await rm(dir, { recursive: true });
    },
  };
}

async function openServer(): Promise<TestDatabase> {
  const { url, drop } = await createTestDatabase();
  const db = openPostgres(url);
  return {
    db,
    place: url,
    async close() {
      await db.close();
      await drop();
    },
  };
}
