import assert from "node:assert/strict";
import { it } from "node:test";
import pg from "pg";
import { sql } from "#kysely";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { createMigratedDatabase } from "./support/migrated-database.ts";

const countProjects = statement((q, _: object) =>
  q.selectFrom("project").select(sql<number>`count(*)`.as("count")),
);

it("a migration does not make others wait for a table that is in use", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query("BEGIN; SELECT FROM project");
  const migrating = openPostgres(`${url}?lock_timeout=200`);
  const db = openPostgres(url);
  t.after(async () => {
    await Promise.all([holder.end(), migrating.close(), db.close()]);
    await drop();
  });

  let attempts = 0;
  const migration = migrating.migrate(async (tx) => {
    attempts++;
    await tx.script("ALTER TABLE project ADD COLUMN IF NOT EXISTS of_a_later_version TEXT");
  });
  while (attempts < 2) assert.deepEqual(await db.get(countProjects, {}), { count: 0 });
  await holder.query("COMMIT");
  await migration;
  assert.ok(attempts >= 2);
  assert.equal((await db.all(findColumn, {})).length, 0);
});

const findColumn = statement((q, _: object) =>
  q.selectFrom("project").select(sql<string>`of_a_later_version`.as("added")),
);
