import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import pg from "pg";
import { sql } from "#kysely";
import { migrate } from "../src/db/migrate.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { insertFile, markFailed } from "../src/files/uploads/queries.ts";
import { createId } from "../src/kernel/ids.ts";
import { createMigratedDatabase } from "./support/migrated-database.ts";
import { createFile } from "./support/webhooks/queue.ts";

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

it("files can be partitioned as docs/capacity.md says, and each partition then gets the indexes of later versions", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  const db = openPostgres(url);
  const client = new pg.Client(url);
  await client.connect();
  t.after(async () => {
    await Promise.all([client.end(), db.close()]);
    await drop();
  });
  await client.query(`INSERT INTO account (id, email, tier, created_at, updated_at) VALUES ('a', 'a', 'free', 0, 0);
    INSERT INTO project (id, account_id, name, slug, created_at, updated_at) VALUES ('p', 'a', 'p', 'p', 0, 0)`);
  const upload = async (time: string) => {
    const file = createFile("p", "live");
    const id = createId(Date.parse(time));
    const named = { id, key: `p/docs/${id}/a.txt` };
    await db.run(insertFile, { ...file, ...named, status: "UPLOADING" });
    return named;
  };
  const listIndexes = async () => {
    const { rows } = await client.query(
      "SELECT indexname FROM pg_indexes WHERE tablename = 'file' ORDER BY 1",
    );
    return rows;
  };
  const before = await listIndexes();
  const files = [await upload("2023-01-01T00:00:00Z"), await upload("2026-12-31T23:59:59.999Z")];
  const page = await readFile(new URL("../../../docs/capacity.md", import.meta.url), "utf8");
  const recipes = Array.from(page.matchAll(/```sql\n(.*?)```/gs), ([, recipe]) => recipe);
  assert.equal(recipes.length, 2);
  await client.query(recipes.join("\n"));
  files.push(await upload("2027-01-01T00:00:00Z"), await upload("2029-01-01T00:00:00Z"));
  for (const { id, key } of files)
    assert.equal(await db.run(markFailed, { id, now: Number.MAX_SAFE_INTEGER }), 1, key);
  const places = await client.query("SELECT tableoid::regclass::text AS name FROM file ORDER BY id");
  const partitions = places.rows.map(({ name }) => name);
  assert.deepEqual(partitions, ["file_before", "file_before", "file_2027", "file_rest"]);
  assert.deepEqual(await listIndexes(), before);

  const failed = "(project_id, environment, id) WHERE status = 'FAILED'";
  // One has partitions of its own. The index is as an interrupted build leaves it.
  await client.query(`DROP INDEX file_failed; DROP TABLE file_rest;
    CREATE TABLE "file Rest" PARTITION OF file DEFAULT PARTITION BY RANGE (id);
    CREATE TABLE file_rest PARTITION OF "file Rest" DEFAULT;
    CREATE INDEX file_failed ON ONLY file ${failed};
    CREATE INDEX done_before ON file_2027 ${failed}; ALTER INDEX file_failed ATTACH PARTITION done_before`);
  await migrate(db);
  const { rows } = await client.query(`SELECT level, indrelid::regclass::text AS table, indisvalid
    FROM pg_partition_tree('file_failed') JOIN pg_index ON indexrelid = relid ORDER BY 1, 2`);
  assert.deepEqual(
    rows.map(({ level, table, indisvalid }) => [level, table, indisvalid]),
    [
      [0, "file", true],
      [1, '"file Rest"', true],
      [1, "file_2027", true],
      [1, "file_2028", true],
      [1, "file_before", true],
      [2, "file_rest", true],
    ],
  );
  const kept = await client.query("SELECT FROM pg_inherits WHERE inhrelid = 'done_before'::regclass");
  assert.equal(kept.rowCount, 1);
});
