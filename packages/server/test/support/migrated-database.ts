import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/postgres/postgres.ts";
import { openSqlite } from "../../src/db/sqlite/sqlite.ts";

const source = new URL("../../src/db/", import.meta.url);
const migrationFiles = [
  "migrate.ts",
  ...readdirSync(new URL("migrations/", source)).map((file) => `migrations/${file}`),
];
// Other checkouts may use the same cluster.
const contents = migrationFiles.map((file) => readFileSync(new URL(file, source), "utf8")).join("\n");
const templateName = `upstow_${hash("sha256", contents).slice(0, 16)}`;

/**
 * A new database with all tables. It is copied from one that was migrated once in this cluster: that takes a fifth of
 * the time. `createTestDatabase` makes the empty ones that migrations are tested with.
 */
export function createMigratedDatabase(): Promise<TestDatabase> {
  return createTestDatabase({
    name: templateName,
    async fill(url) {
      const db = openPostgres(url);
      await migrate(db);
      await db.close();
    },
  });
}

let embedded: Promise<Buffer> | undefined;

async function migrateEmbedded(): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), "upstow-template-"));
  const path = join(directory, "upstow.db");
  const db = openSqlite(path);
  await migrate(db);
  await db.close();
  const bytes = await readFile(path);
  await rm(directory, { recursive: true });
  return bytes;
}

/** Writes an embedded database with all tables there, migrated once in this process: half of what a start costs. */
export async function writeMigratedFile(path: string): Promise<void> {
  embedded ??= migrateEmbedded();
  await writeFile(path, await embedded, { mode: 0o600 });
}
