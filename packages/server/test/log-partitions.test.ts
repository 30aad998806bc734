import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import postgres from "postgres";
import { type Database, DatabaseReadOnly, UniqueViolation } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { enterReadOnly, leaveReadOnly } from "../src/http/read-only.ts";
import { createId, firstIdAt } from "../src/kernel/ids.ts";
import { insertLog, listLogs } from "../src/projects/logs/queries.ts";
import { divideLogs, forgetOldLogs } from "../src/projects/logs/retention.ts";
import { createMigratedDatabase } from "./support/migrated-database.ts";

const start = Date.parse("2026-11-18T12:00:00Z");
const at = (month: string) => Date.parse(`${month}-15T00:00:00Z`);
const { signal } = new AbortController();

async function open(t: TestContext): Promise<{ db: Database; sql: postgres.Sql }> {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const db = openPostgres(url);
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  t.after(async () => void (await Promise.all([db.close(), sql.end()])));
  return { db, sql };
}

const entry = (time: number, id = createId(time)) => ({
  id,
  project_id: "p",
  environment: "live" as const,
  type: "file.uploaded",
  file_id: null,
  key: null,
  message: "",
  data: "{}",
  created_at: time,
});

const divide = (db: Database, now = start) => divideLogs({ db, now: () => now });

async function list(db: Database): Promise<string[]> {
  const everything = { projectId: "p", environment: "live" as const, before: "~", from: "", take: 10_000 };
  return (await db.all(listLogs, everything)).map(({ id }) => id);
}

async function partitionsOf(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql`SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE relkind = 'r' ORDER BY 1`;
  return rows.map(({ relname }) => relname);
}

const countIn = async (sql: postgres.Sql, table: string) =>
  (await sql`SELECT count(*)::int AS count FROM ${sql(table)}`)[0]?.["count"];

describe("logs on PostgreSQL, by month", () => {
  it("keep every entry of an installation that is in use, and its key", async (t) => {
    const { db, sql } = await open(t);
    const written: string[] = [];
    const write = async (time: number) => {
      const row = entry(time);
      await db.transact((tx) => tx.run(insertLog, row));
      written.push(row.id);
    };
    for (let i = 0; i < 300; i++) await write(at(i % 2 === 0 ? "2025-03" : "2026-11"));
    let isDivided = false;
    const writing = (async () => {
      while (!isDivided) await write(start);
    })();
    await divide(db);
    isDivided = true;
    await writing;
    for (const month of ["2026-11", "2026-12", "2027-01", "2027-02"]) await write(at(month));
    assert.deepEqual(await list(db), written.toSorted().toReversed());
    const partitions = ["log_2027_01", "log_2027_02", "log_before", "log_rest"];
    assert.deepEqual(await partitionsOf(sql), partitions);
    for (const month of ["log_2027_01", "log_2027_02"]) assert.equal(await countIn(sql, month), 1);
    assert.equal(await countIn(sql, "log_rest"), 0);
    await assert.rejects(db.run(insertLog, entry(start, written[0])), UniqueViolation);
    await divide(db);
    await migrate(db);
    assert.deepEqual(await partitionsOf(sql), partitions, "once is enough");
    const constraints = await sql`SELECT 1 FROM pg_constraint WHERE contype = 'c' AND conname = 'log_bound'`;
    assert.equal(constraints.length, 0);
  });

  it("go on where months were missed, and take what was written meanwhile along", async (t) => {
    const { db, sql } = await open(t);
    await divide(db);
    const missed = entry(at("2027-06"));
    await db.run(insertLog, missed);
    assert.equal(await countIn(sql, "log_rest"), 1);
    await divide(db, at("2027-06"));
    assert.equal(await countIn(sql, "log_rest"), 0);
    assert.equal(await countIn(sql, "log_2027_06"), 1);
    assert.deepEqual(await list(db), [missed.id]);
  });

  it("wait for a transaction that uses them, and hold up nobody for long meanwhile", async (t) => {
    const { db, sql } = await open(t);
    const [isOpen, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const reader = sql.begin(async (tx) => {
      await tx`SELECT FROM log`;
      isOpen.resolve();
      await goesOn.promise;
    });
    await isOpen.promise;
    const divided = divide(db);
    const isWaiting = async () =>
      (
        await sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      ).length > 0;
    while (!(await isWaiting()));
    // Behind the statement that waits, until that gives up.
    await db.run(insertLog, entry(start));
    goesOn.resolve();
    await Promise.all([reader, divided]);
    assert.equal((await list(db)).length, 1);
    assert.ok((await partitionsOf(sql)).includes("log_before"));
  });

  it("are dropped by the month when they are over, and deleted row by row in the month that is not", async (t) => {
    const { db, sql } = await open(t);
    await divide(db);
    for (const month of ["2025-03", "2026-12", "2027-01", "2027-02"])
      await db.run(insertLog, entry(at(month)));
    const kept = entry(Date.parse("2027-02-20T00:00:00Z"));
    await db.run(insertLog, kept);
    const deps = { db, now: () => Date.parse("2027-02-18T00:00:00Z"), config: { logRetentionDays: 2 } };
    await forgetOldLogs(deps, signal);
    assert.deepEqual(await partitionsOf(sql), ["log_2027_02", "log_rest"]);
    assert.deepEqual(await list(db), [kept.id]);
    await divide(db, deps.now());
    const months = ["2027_02", "2027_03", "2027_04", "2027_05"].map((month) => `log_${month}`);
    assert.deepEqual(await partitionsOf(sql), [...months, "log_rest"]);
  });

  it("are read-only with the rest of the installation, and not divided meanwhile", async (t) => {
    const { db, sql } = await open(t);
    for (const expected of [[], ["log_2027_01", "log_2027_02", "log_before", "log_rest"]]) {
      await enterReadOnly(db, "database", start);
      await assert.rejects(db.run(insertLog, entry(start)), DatabaseReadOnly);
      if (expected.length === 0) await assert.rejects(divide(db), /log has triggers/);
      assert.deepEqual(await partitionsOf(sql), expected);
      await leaveReadOnly(db, "database");
      await db.run(insertLog, entry(start));
      await divide(db);
    }
  });

  it("are listed in the order of the key, month after month, without sorting", async (t) => {
    const { db, sql } = await open(t);
    await divide(db);
    await sql`INSERT INTO log SELECT ${firstIdAt(start).slice(0, 16)} || lpad(n::text, 10, '0'), 'p' || n % 9, 'live', 't',
      null, null, '', '{}', 0 FROM generate_series(1, 20000) n`;
    await sql`ANALYZE log`;
    const { sql: text, bind } = listLogs.compile("postgres");
    const wanted = { projectId: "p1", environment: "live" as const, before: "~", from: "", take: 50 };
    const plan = await sql.unsafe(`EXPLAIN ${text}`, bind(wanted) as string[]);
    const lines = plan.map((row) => row["QUERY PLAN"]).join("\n");
    assert.match(lines, /Index Scan Backward using log_before_pkey/);
    assert.doesNotMatch(lines, /-> +(Incremental )?Sort|Seq Scan/);
  });
});
