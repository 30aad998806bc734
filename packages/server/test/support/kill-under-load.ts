import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openPostgres } from "../../src/db/postgres/postgres.ts";
import { openSqlite } from "../../src/db/sqlite/sqlite.ts";
import { findAccountByEmail, setOwnLimits } from "../../src/projects/accounts/queries.ts";
import { envOf, type KeptData, keepData } from "./keep-data.ts";
import { type ServerProcess, spawnServer } from "./spawn-server.ts";
import type { DatabaseKind } from "./start-app.ts";

const clients = 8;

/** Writes until the server is gone; what it acknowledged is what has to be there. */
async function writeUntilKilled(
  server: ServerProcess,
  key: string,
  projectId: string,
  acknowledged: Set<string>,
) {
  const write = async (client: number) => {
    for (let i = 0; ; i++) {
      const slug = `${server.process.pid}-${client}-${i}`;
      const answer = await server.call("POST", `projects/${projectId}/routers`, { key, body: { slug } });
      assert.equal(answer.status, 201);
      acknowledged.add(slug);
    }
  };
  const results = await Promise.allSettled(Array.from({ length: clients }, (_, client) => write(client)));
  for (const result of results) {
    if (result.status === "rejected" && result.reason instanceof assert.AssertionError) throw result.reason;
  }
}

/** As the operator does it: beside the running server. */
async function liftRateLimit({ dataDir, databaseUrl }: KeptData["reuse"]): Promise<void> {
  const db = databaseUrl === undefined ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(databaseUrl);
  const { id = "" } = (await db.get(findAccountByEmail, { email: "owner@localhost" })) ?? {};
  const unchanged = { rateUpload: null, rateTransform: null, transformUnits: null };
  assert.equal(await db.run(setOwnLimits, { id, ...unchanged, rateOther: 1_000_000, now: Date.now() }), 1);
  await db.close();
}

/** Kills the program again and again while clients write, and checks that all it acknowledged is there. */
export async function killUnderLoad(
  database: DatabaseKind,
  options: { writes: number; kills: number },
): Promise<void> {
  const kept = await keepData(database);
  const env = await envOf(kept);
  const acknowledged = new Set<string>();
  let keys = { live: "", projectId: "" };
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const server = await spawnServer(env);
      if (kill === 1) {
        keys = server.keys;
        await liftRateLimit(kept.reuse);
      }
      const writing = writeUntilKilled(server, keys.live, keys.projectId, acknowledged);
      const enough = (options.writes * kill) / options.kills;
      while (acknowledged.size < enough) await wait(randomInt(1, 8));
      server.process.kill("SIGKILL");
      assert.equal(await server.ended, "SIGKILL");
      await writing;
    }
    const server = await spawnServer(env);
    const list = await server.call("GET", `projects/${keys.projectId}/routers`, { key: keys.live });
    const there = new Set(list.body.routers.map((router: { slug: string }) => router.slug));
    const lost = [...acknowledged].filter((slug) => !there.has(slug));
    assert.deepEqual(lost, []);
    assert.ok(acknowledged.size >= options.writes);
    // At most what was in flight when the server was killed is there without an acknowledgement.
    assert.ok(there.size - 1 - acknowledged.size <= clients * options.kills);
    server.process.kill("SIGTERM");
    assert.equal(await server.ended, 0);
  } finally {
    await kept.remove();
  }
}
