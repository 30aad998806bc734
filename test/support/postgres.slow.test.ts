import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { createTestDatabase, startPostgres } from "./postgres.ts";

async function query<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return (await sql.unsafe(statement)) as unknown as Row[];
  } finally {
    await sql.end();
  }
}

async function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const answer = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answer;
}

async function waitUntilGone(isThere: () => boolean | Promise<boolean>): Promise<void> {
  while (await isThere()) await sleep(50);
}

test("each test database is its own, durable and as PostgreSQL 18 makes it", async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await query(one.url, "CREATE TABLE things (id int)");
  assert.deepEqual([...(await query(two.url, "SELECT to_regclass('things') AS found"))], [{ found: null }]);
  const settings = await query<{ name: string; setting: string }>(
    one.url,
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'max_connections', 'synchronous_commit')",
  );
  assert.deepEqual(Object.fromEntries(settings.map((row) => [row.name, row.setting])), {
    fsync: "on",
    full_page_writes: "on",
    max_connections: "200",
    synchronous_commit: "on",
  });
  const [version] = await query<{ number: string }>(
    one.url,
    "SELECT current_setting('server_version') AS number",
  );
  assert.match(version?.number ?? "", /^18\./);
  await Promise.all([one.drop(), two.drop()]);
});

test("drop closes connections that are still open", async () => {
  const database = await createTestDatabase();
  const sql = postgres(database.url, { max: 1, onclose: () => {} });
  await sql`SELECT 1`;
  await database.drop();
  await assert.rejects(query(database.url, "SELECT 1"), { code: "3D000" });
  await sql.end();
});

test("a cluster keeps committed rows over an immediate restart and is gone after stop", async () => {
  const cluster = await startPostgres();
  await query(cluster.url, "CREATE TABLE kept (id int)");
  await query(cluster.url, "INSERT INTO kept VALUES (7)");
  const [before] = await query<{ started: Date }>(
    cluster.url,
    "SELECT pg_postmaster_start_time() AS started",
  );
  await cluster.restartImmediate();
  const [after] = await query<{ started: Date }>(cluster.url, "SELECT pg_postmaster_start_time() AS started");
  assert.notDeepEqual(after, before);
  assert.deepEqual([...(await query(cluster.url, "SELECT id FROM kept"))], [{ id: 7 }]);
  const [place] = await query<{ path: string }>(
    cluster.url,
    "SELECT current_setting('data_directory') AS path",
  );
  await cluster.stop();
  await cluster.stop();
  assert.equal(await isListening(cluster.url), false);
  assert.equal(existsSync(dirname(place?.path ?? "/")), false);
});

test("a cluster ends with the process that started it, even when that is killed", async () => {
  const script = `
    import { createTestDatabase } from ${JSON.stringify(new URL("postgres.ts", import.meta.url).href)};
    console.log((await createTestDatabase()).url);
    setInterval(() => {}, 1000);`;
  const { UPSTOW_TEST_POSTGRES_URL: _shared, ...env } = process.env;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  const url = line.trim();
  const [place] = await query<{ path: string }>(url, "SELECT current_setting('data_directory') AS path");
  child.kill("SIGKILL");
  await waitUntilGone(() => isListening(url));
  await waitUntilGone(() => existsSync(dirname(place?.path ?? "/")));
});
