import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { clamdMissing, eicar, startClamd } from "../../../test/support/clamd.ts";
import { setUpFaultyS3 } from "../../../test/support/faulty-s3.ts";
import { swiftMissing } from "../../../test/support/swift.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import type { S3Store } from "../src/storage/s3/s3-store.ts";
import { judged } from "./support/judged.ts";
import { envOf, keepData } from "./support/keep-data.ts";
import { type ServerProcess, spawnServer } from "./support/spawn-server.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";
import { createUploadClient, partPieces, smallBody } from "./support/upload-client.ts";

// bounded: by the file
const findMessage = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select("id").where("file_id", "=", p.fileId),
);

onBothDatabases("virus scans", (database) => {
  it("hold, judge and lose nothing through kill -9 at any moment", { skip: clamdMissing }, async () => {
    const kept = await keepData(database);
    const clamd = await startClamd();
    const env = { ...(await envOf(kept)), UPSTOW_CLAMD: clamd.socket, UPSTOW_RATE_LIMITS: "off" };
    const acknowledged = new Map<string, "clean" | "infected">();
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
      const server = await spawnServer(env);
      const client = createUploadClient({ call: server.call, logLines: [] }, key);
      for (const [id, verdict] of acknowledged) {
        const file = await judged(client, id, verdict === "infected" ? 404 : 200);
        assert.equal(file?.scan ?? null, verdict === "infected" ? null : "clean");
        if (file !== null) assert.equal((await fetch(file.url)).status, 200);
      }
      server.process.kill("SIGKILL");
      await server.ended;
      const { databaseUrl, dataDir } = kept.reuse;
      const db =
        databaseUrl === undefined ? openSqlite(join(dataDir, "upstow.db")) : openPostgres(databaseUrl);
      for (const [fileId, verdict] of acknowledged)
        assert.equal((await db.all(findMessage, { fileId })).length, verdict === "clean" ? 1 : 0);
      await db.close();
    } finally {
      await clamd.close();
      await kept.remove();
    }
  });

  describe("of files in a bucket", { skip: swiftMissing || clamdMissing }, () => {
    const s3 = setUpFaultyS3();

    it("keep them out of what a CDN in front of the bucket sees, until they are clean", async () => {
      const clamd = await startClamd();
      const env = { ...(await s3.createEnv()), UPSTOW_CLAMD: clamd.tcp, UPSTOW_S3_DELIVERY: "redirect" };
      const app = await startApp({ database, env });
      try {
        const tenant = await app.createTenant("pro");
        const client = createUploadClient(app, tenant.live);
        await client.post(`projects/${tenant.projectId}/routers`, { slug: "scanned", scan: true });
        const placesOf = async ({ key }: { key: string }) => {
          const places: string[] = [];
          for await (const object of (app.app.deps.store as S3Store).imports.list())
            if (object.key.endsWith(key))
              places.push(object.key === key ? "public" : object.key.replace(key, ""));
          return places.sort();
        };
        await clamd.stop();
        const file = await client.upload(smallBody, { routeSlug: "scanned" });
        const pieces = partPieces();
        const large = await client.uploadPieces(pieces, { routeSlug: "scanned" });
        const infected = await client.upload(eicar, { routeSlug: "scanned" });
        for (const held of [file, large, infected]) {
          assert.deepEqual(await placesOf(held), ["private/"]);
          assert.equal((await fetch(held.url, { redirect: "manual" })).status, 404);
        }
        // The bucket is away too, and nothing passes for it.
        await clamd.start();
        s3.proxy.setFaults(() => ({ kind: "answer", status: 503 }));
        await wait(3_000);
        assert.equal((await client.get(file.id)).body.file.scan, "pending");
        s3.proxy.setFaults(() => null);
        for (const [held, bytes] of [
          [file, smallBody],
          [large, Buffer.concat(pieces)],
        ] as const) {
          assert.equal((await judged(client, held.id)).scan, "clean");
          while ((await placesOf(held)).join() !== "public") await wait(50);
          assert.deepEqual(Buffer.from(await (await fetch(held.url)).arrayBuffer()), bytes);
        }
        await judged(client, infected.id, 404);
        while ((await placesOf(infected)).length > 0) await wait(50);
      } finally {
        await app.close();
        await clamd.close();
      }
    });
  });
});
