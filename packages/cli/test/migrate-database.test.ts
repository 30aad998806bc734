import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { createTestDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { openDatabase } from "../../server/src/app/compose.ts";
import { ConfigError, readConfig } from "../../server/src/config.ts";
import { planCopy } from "../../server/src/ops/relocation/database/table-shape.ts";
import { setState } from "../../server/src/ops/relocation/queries.ts";
import { listMoves } from "../../server/test/support/audit-trail.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUploadClient } from "../../server/test/support/upload-client.ts";
import { type Furnished, furnish, readAllOf, untilWritable } from "./support/furnish.ts";
import { envOf, examineMove, runFailing, runJson, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

const appEnv = { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8,::1/128" };
const { tables } = planCopy(false);

/** The same text for the same values, however the drivers hand them out. */
function showRow(row: object): string {
  const show = (value: unknown) =>
    ArrayBuffer.isView(value)
      ? Buffer.from(value as Uint8Array).toString("hex")
      : value === null
        ? null
        : String(value);
  return JSON.stringify(
    Object.entries(row)
      .map(([name, value]) => [name, show(value)])
      .sort(),
  );
}

describe("migrate database", () => {
  let dataDir: string;
  let app: TestApp;
  let furnished: Furnished;
  let database: TestDatabase;
  let target: Sql;
  let env: Record<string, string>;
  const start = () => startApp({ database: "sqlite", env: appEnv, reuse: { dataDir } });

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "upstow-migrate-"));
    app = await start();
    furnished = await furnish(app);
  });
  after(async () => {
    await app.close();
    await rm(dataDir, { recursive: true });
  });
  beforeEach(async () => {
    database = await createTestDatabase();
    target = postgres(database.url, { max: 2, onnotice: () => {} });
    env = { ...envOf(app), UPSTOW_DATABASE_URL: database.url };
  });
  afterEach(async () => {
    await target.end({ timeout: 5 });
    await database.drop();
  });

  const requestUpload = () => createUploadClient(app, furnished.tenant.live).requestAnswer();

  /** Both databases as another program sees them. */
  async function assertSameRows(): Promise<void> {
    const source = new DatabaseSync(join(dataDir, "upstow.db"), { readOnly: true });
    try {
      for (const table of tables) {
        const wanted = source.prepare(`select * from "${table}"`).all();
        const copied = await target.unsafe(`select * from "${table}"`);
        const text = (rows: Iterable<object>) => Array.from(rows, (row) => showRow(row)).sort();
        assert.deepEqual(text(copied), text(wanted), table);
      }
    } finally {
      source.close();
    }
  }

  it("killed in the middle goes on, while the service serves; then it runs on PostgreSQL", async () => {
    await (await openDatabase(readConfig(env))).close();
    const blocker = await target.reserve();
    await blocker`BEGIN`;
    await blocker`LOCK TABLE log IN SHARE ROW EXCLUSIVE MODE`;
    const killed = spawnUpstow(["migrate", "database"], env);
    // On a machine that stands still for long, PostgreSQL ends the wait and with it the command; that is as good.
    for (let isWaiting = false; !isWaiting && killed.child.exitCode === null; await wait(20)) {
      const [row] = await target`
        SELECT count(*) AS n FROM pg_locks JOIN pg_database ON pg_database.oid = database
        WHERE NOT granted AND datname = current_database() AND relation = ${"log"}::regclass`;
      isWaiting = Number(row?.["n"]) > 0;
    }
    killed.child.kill("SIGKILL");
    const { stderr } = await killed.ended;
    assert.match(stderr, /is now read-only/);
    assert.match(stderr, /^Copying rows: /m);
    await blocker`ROLLBACK`;
    blocker.release();

    const progress = await target`SELECT name FROM relocated_table WHERE is_complete = 1`;
    assert.ok(progress.some(({ name }) => name === "project"));
    assert.ok(!progress.some(({ name }) => name === "log"));
    const written = await target`SELECT id, xmin::text FROM account ORDER BY id`;
    await assert.rejects(
      startApp({ database: "postgres", reuse: { dataDir, databaseUrl: database.url } }),
      (error) => error instanceof ConfigError && /an incomplete copy/.test(error.message),
    );
    assert.equal((await requestUpload()).status, 503);
    const { UPSTOW_DATABASE_URL: _, ...without } = env;
    assert.match(
      await examineMove(without),
      /^warning: The installation has been read-only since .*: the database is being moved to postgres:.* run it again/,
    );
    assert.match(await examineMove(env), /^failed: UPSTOW_DATABASE_URL points to .*an incomplete copy/);
    const wanted = await readAllOf(app.url, furnished);

    const report = await runJson(["migrate", "database"], env);
    assert.equal(report.state, "copied");
    assert.equal(report.isInBucket, false);
    assert.deepEqual(
      report.tables.map(({ name }: { name: string }) => name),
      tables,
    );
    for (const { sha256 } of report.tables) assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.match(report.set.UPSTOW_DATABASE_URL, /^postgres/);
    await assertSameRows();
    assert.deepEqual(
      await target`SELECT id, xmin::text FROM account ORDER BY id`,
      written,
      "not written twice",
    );
    assert.equal((await requestUpload()).status, 503);
    assert.deepEqual(await readAllOf(app.url, furnished), wanted);

    assert.match(
      await examineMove(without),
      /^warning: .*the database was copied to postgres:.*migrate database --abort` to accept changes again\.$/,
    );
    await app.close();
    const moved = await startApp({
      database: "postgres",
      env: appEnv,
      reuse: { dataDir, databaseUrl: database.url },
    });
    try {
      assert.deepEqual(await listMoves(moved), ["operator: copying", "service: done"]);
      assert.deepEqual(await readAllOf(moved.url, furnished), wanted);
      const client = createUploadClient(moved, furnished.tenant.live);
      await client.upload(Buffer.from("new here"));
      const again = await runFailing(["migrate", "database"], env);
      assert.match(again.message, /has since been started on postgres:/);
      assert.match(
        (await runFailing(["migrate", "database", "--abort"], env)).message,
        /has since been started on/,
      );
    } finally {
      await moved.close();
    }

    // Left to itself, the old database serves what it has and takes nothing that would be lost.
    app = await start();
    assert.equal((await requestUpload()).status, 503);
    const unmarked = await runUpstow(["migrate", "database", "--abort"], without);
    assert.match(unmarked.stdout, /could not be marked as such/);
    await app.close();
    app = await start();
    assert.equal((await requestUpload()).status, 200);
    assert.deepEqual(await listMoves(app), ["operator: copying", "operator: abandoned"]);
  });

  it("given up, leaves the installation as it was; begun again, copies what is there by then", async () => {
    const first = await runUpstow(["migrate", "database"], env);
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /and match the embedded database/);
    assert.match(first.stdout, /^ {2}UPSTOW_DATABASE_URL=postgres/m);
    assert.doesNotMatch(first.stdout, new RegExp(`:${new URL(database.url).password || "no password"}@`));
    const away = { ...env, UPSTOW_DATABASE_URL: "postgres://127.0.0.1:1/x" };
    assert.match((await runFailing(["migrate", "database", "--abort"], away)).message, /Nothing was changed/);
    // As far as one comes that is killed in the middle.
    await app.app.deps.db.run(setState, { name: "database", state: "abandoned", now: Date.now() });
    const given = await runJson(["migrate", "database", "--abort"], env);
    assert.deepEqual(given, { state: "abandoned", isMarked: true });
    assert.equal((await runFailing(["migrate", "database", "--abort"], env)).code, "NOT_FOUND");
    await untilWritable(app, furnished.tenant.live);
    await assert.rejects(
      startApp({ database: "postgres", reuse: { dataDir, databaseUrl: database.url } }),
      (error) => error instanceof ConfigError && /points to an abandoned copy/.test(error.message),
    );
    await createUploadClient(app, furnished.tenant.live).upload(Buffer.from("in between"));
    await createUploadClient(app, furnished.tenant.live).remove(furnished.files[1]?.key ?? "");

    await runJson(["migrate", "database"], env);
    await assertSameRows();
    const other = await createTestDatabase();
    try {
      const elsewhere = await runFailing(["migrate", "database"], { ...env, UPSTOW_DATABASE_URL: other.url });
      assert.match(elsewhere.message, /already being moved to postgres:/);
    } finally {
      await other.drop();
    }
    await runJson(["migrate", "database", "--abort"], env);
    await untilWritable(app, furnished.tenant.live);
  });

  it("reports a copy that is not the same", async () => {
    await runJson(["migrate", "database"], env);
    await target`UPDATE project SET name = 'changed by somebody'`;
    const failure = await runFailing(["migrate", "database"], env);
    assert.match(failure.message, /copy of the table project differs/);
    assert.match(failure.message, /read-only until then/);
    await runJson(["migrate", "database", "--abort"], env);
    await untilWritable(app, furnished.tenant.live);
  });

  it("writes into no database that holds something", async () => {
    await target`CREATE TABLE invoice (id int)`;
    const foreign = await runFailing(["migrate", "database"], env);
    assert.deepEqual([foreign.exitCode, foreign.code], [1, "VALIDATION_ERROR"]);
    assert.match(foreign.message, /contains tables of another program/);

    const other = await startApp({ database: "postgres" });
    try {
      const url = other.databaseUrl ?? "";
      const taken = await runFailing(["migrate", "database"], { ...env, UPSTOW_DATABASE_URL: url });
      assert.match(taken.message, /already contains an Upstow installation/);
      assert.equal((await createUploadClient(other, other.owner.live).requestAnswer()).status, 200);
    } finally {
      await other.close();
    }
    assert.equal((await requestUpload()).status, 200, "nothing has begun");
  });

  it("says what is missing", async () => {
    const { UPSTOW_DATABASE_URL: _, ...without } = env;
    assert.equal((await runFailing(["migrate", "database"], without)).code, "CONFIGURATION");
    const nowhere = { ...env, UPSTOW_DATA_DIR: join(dataDir, "nothing") };
    assert.equal((await runFailing(["migrate", "database"], nowhere)).code, "NOT_FOUND");
    const away = await runFailing(["migrate", "database"], {
      ...env,
      UPSTOW_DATABASE_URL: "postgres://127.0.0.1:1/x",
    });
    assert.equal(away.code, "SERVICE_UNAVAILABLE");
    assert.equal((await requestUpload()).status, 200);
  });
});
