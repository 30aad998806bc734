import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import { judged } from "./support/judged.ts";
import { envOf, type KeptData, keepData } from "./support/keep-data.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { onBothDatabases } from "./support/start-app.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

// bounded: by the file
const findMessage = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select("id").where("file_id", "=", p.fileId),
);

type Verdicts = Map<string, "clean" | "infected">;

async function checkVerdicts(server: ServerProcess, key: string, verdicts: Verdicts): Promise<void> {
  const client = createUploadClient({ call: server.call, logLines: [] }, key);
  for (const [id, verdict] of verdicts) {
    const file = await judged(client, id, verdict === "infected" ? 404 : 200);
    assert.equal(file?.scan ?? null, verdict === "infected" ? null : "clean");
    if (file !== null) assert.equal((await fetch(file.url)).status, 200);
  }
  server.process.kill("SIGKILL");
  await server.ended;
}

async function checkEvents(kept: KeptData, verdicts: Verdicts): Promise<void> {
  const { databaseUrl, dataDir } = kept.reuse;
  const db = databaseUrl === undefined ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(databaseUrl);
  for (const [fileId, verdict] of verdicts)
    assert.equal((await db.all(findMessage, { fileId })).length, verdict === "clean" ? 1 : 0);
  await db.close();
}

onBothDatabases("virus scans", (database) => {
  it("hold, judge and lose nothing through kill -9 at any moment", { skip: clamdMissing }, async () => {
    const kept = await keepData(database);
    const clamd = await startClamd();
    const env = { ...(await envOf(kept)), UPSTOW_CLAMD: clamd.socket, UPSTOW_RATE_LIMITS: "off" };
    const acknowledged: Verdicts = new Map();
    let key = "";
    try {
      const sendOne = async (server: ServerProcess, bytes: Buffer) => {
        const client = createUploadClient({ call: server.call, logLines: [] }, key);
        const file = await client.upload(bytes, { routeSlug: "scanned" });
        acknowledged.set(file.id, bytes === eicar ? "infected" : "clean");
      };
      /** Whatever state it is in, the virus is never served. */
      const readAll = async (server: ServerProcess) => {
        for (const [id, verdict] of acknowledged) {
          if (verdict === "clean") continue;
          const { status, body } = await server.call("GET", `files/${id}`, { key });
          if (status === 200) assert.equal((await fetch(body.file.url)).status, 404);
        }
      };
      for (let round = 0; round < 4; round++) {
        const server = await spawnServer(env);
        if (round === 0) {
          key = server.keys.live;
          const route = { slug: "scanned", scan: true };
          const made = await server.call("POST", `projects/${server.keys.projectId}/routers`, {
            key,
            body: route,
          });
          assert.equal(made.status, 201, JSON.stringify(made.body));
        }
        const uploads = Array.from({ length: 8 }, (_, i) => sendOne(server, i % 2 === 0 ? eicar : smallBody));
        await Promise.race(uploads);
        await readAll(server);
        await wait(Math.random() * 80);
        server.process.kill("SIGKILL");
        await Promise.allSettled(uploads);
        await server.ended;
      }
      await checkVerdicts(await spawnServer(env), key, acknowledged);
      await checkEvents(kept, acknowledged);
    } finally {
      await clamd.close();
      await kept.remove();
    }
  });
});
