import assert from "node:assert/strict";
import { it } from "node:test";
import pg from "pg";
import { sql } from "#kysely";
import { migrate } from "../src/db/migrate.ts";
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

const waitingBuilds = `SELECT FROM pg_stat_activity WHERE datname = current_database()
  AND wait_event_type = 'Lock' AND query LIKE '%INDEX CONCURRENTLY%'`;

it("an index of a large table is built while others write, also after a build that was interrupted", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const [first, second] = [openPostgres(url), openPostgres(url)];
  const [writer, other] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([writer.connect(), other.connect()]);
  t.after(async () => {
    await Promise.all([writer.end(), other.end(), first.close(), second.close()]);
    await drop();
  });
  const findIndex = async () => {
    const { rows } = await writer.query(
      "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('file_failed')",
    );
    return rows;
  };
  assert.deepEqual(await findIndex(), [{ indisvalid: true }]);
  await writer.query("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'file_failed'::regclass");
  await writer.query("BEGIN; LOCK TABLE file IN ROW EXCLUSIVE MODE");
  const built = Promise.all([migrate(first), migrate(second)]);
  while ((await other.query(waitingBuilds)).rowCount === 0);
  // An ordinary build would wait for the first writer, and this one for the build.
  await other.query("DELETE FROM file");
  await writer.query("COMMIT");
  await built;
  assert.deepEqual(await findIndex(), [{ indisvalid: true }]);
});

it("an index of a table that its operator has divided is built part by part, and goes on where it was interrupted", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const db = openPostgres(url);
  const client = new pg.Client(url);
  await client.connect();
  t.after(async () => {
    await Promise.all([client.end(), db.close()]);
    await drop();
  });
  const { rows: indexes } = await client.query("SELECT indexdef FROM pg_indexes WHERE tablename = 'file'");
  const others = indexes.map(({ indexdef }) => indexdef).filter((text) => !/file_(pkey|failed) /.test(text));
  await client.query(`ALTER TABLE file RENAME TO file_before;
    CREATE TABLE file (LIKE file_before INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
    DROP TABLE file_before; ${others.join(";")};
    CREATE TABLE "file Old" PARTITION OF file FOR VALUES FROM (MINVALUE) TO ('1') PARTITION BY RANGE (id);
    CREATE TABLE file_older PARTITION OF "file Old" FOR VALUES FROM (MINVALUE) TO ('0');
    CREATE TABLE file_old PARTITION OF "file Old" DEFAULT;
    CREATE TABLE file_new PARTITION OF file DEFAULT`);
  // As far as an interrupted build came.
  const failed = "(project_id, environment, id) WHERE status = 'FAILED'";
  await client.query(`CREATE INDEX file_failed ON ONLY file ${failed};
    CREATE INDEX done_before ON file_new ${failed}; ALTER INDEX file_failed ATTACH PARTITION done_before`);
  await migrate(db);
  const { rows } = await client.query(`SELECT tree.level, indrelid::regclass::text AS table, indisvalid
    FROM pg_partition_tree('file_failed') tree JOIN pg_index ON indexrelid = tree.relid ORDER BY 1, 2`);
  assert.deepEqual(
    rows.map(({ level, table, indisvalid }) => [level, table, indisvalid]),
    [
      [0, "file", true],
      [1, '"file Old"', true],
      [1, "file_new", true],
      [2, "file_old", true],
      [2, "file_older", true],
    ],
  );
  const kept = await client.query("SELECT FROM pg_inherits WHERE inhrelid = 'done_before'::regclass");
  assert.equal(kept.rowCount, 1);
});
