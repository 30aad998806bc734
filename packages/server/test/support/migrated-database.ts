import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createTestDatabase, type TestDatabase } from "../../../../test/support/postgres.ts";
import { migrate } from "../../src/db/migrate.ts";
import { openPostgres } from "../../src/db/postgres/postgres.ts";

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
