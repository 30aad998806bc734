import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import postgres from "postgres";
import { createMigratedDatabase } from "./support/migrated-database.ts";
import { spawnServer } from "./support/spawn-server.ts";

it("a call that died with its process is done by the first retry elsewhere", async (t) => {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const sql = postgres(url, { max: 1 });
  t.after(() => sql.end());
  const start = async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "upstow-died-"));
    t.after(() => rm(dataDir, { recursive: true }));
    const server = await spawnServer({
      UPSTOW_DATA_DIR: dataDir,
      UPSTOW_DATABASE_URL: url,
      UPSTOW_SECRET: "one secret that every instance knows",
      UPSTOW_LOG_LEVEL: "silent",
    });
    t.after(() => server.process.kill("SIGKILL"));
    return server;
  };
  const first = await start();
  const second = await start();
  const { live: key, projectId } = first.keys;
  const call = {
    key,
    body: { slug: "once" },
    headers: { "idempotency-key": "died" },
  };
  const path = `projects/${projectId}/routers`;

  // The work waits for this lock, in a transaction of the process that is about to die.
  const lock = await sql.reserve();
  await lock`BEGIN`;
  await lock`LOCK TABLE file_route IN EXCLUSIVE MODE`;
  const dead = first.call("POST", path, call).catch((error: Error) => error);
  const isWaiting = async () =>
    (await lock`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'file_route'::regclass`).length > 0;
  while (!(await isWaiting())) await wait(20);
  first.process.kill("SIGKILL");
  assert.ok((await dead) instanceof Error);
  await lock`ROLLBACK`;
  lock.release();

  const retried = await second.call("POST", path, call);
  assert.equal(retried.status, 201, JSON.stringify(retried.body));
  const again = await second.call("POST", path, call);
  assert.deepEqual([again.status, again.body], [201, retried.body]);
});
