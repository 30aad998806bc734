import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { createTestDatabase, startPostgres } from "../../../test/support/postgres.ts";
import { setUpInstallation } from "../src/app/first-start.ts";
import { DatabaseUnavailable } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { createClient, openPostgres } from "../src/db/postgres/postgres.ts";
import { guard } from "../src/db/postgres/transactions.ts";
import { createKeyring } from "../src/kernel/security/keyring.ts";
import { expectError } from "./support/expect-error.ts";
import { startApp } from "./support/start-app.ts";

describe("PostgreSQL", () => {
  it("is migrated and set up by one of four instances that start at once", async (t) => {
    const { url, drop } = await createTestDatabase();
    const dbs = Array.from({ length: 4 }, () => openPostgres(url));
    t.after(async () => {
      await Promise.all(dbs.map((db) => db.close()));
      await drop();
    });
    const keyring = createKeyring(["one secret that every instance knows"]);
    const starts = await Promise.all(
      dbs.map(async (db) => {
        await migrate(db);
        return setUpInstallation({ db, keyring, now: Date.now });
      }),
    );
    assert.equal(starts.filter((start) => start !== null).length, 1);
  });

  it("is said to be unavailable in its own words where it lets nobody in, or does not know what the address names", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    for (const [part, value, message] of [
      ["pathname", "/none", /: database "none" does not exist \(3D000\)$/],
      ["username", "nobody", /: password authentication failed for user "nobody" \(28P01\)$/],
      ["search", "channel_binding=require", /: unrecognized configuration parameter "channel_binding"/],
    ] as const) {
      const address = new URL(url);
      address[part] = value;
      const db = openPostgres(address.href);
      t.after(() => db.close());
      await assert.rejects(db.check(), { name: "DatabaseUnavailable", message });
    }
  });

  it("is said to be unavailable where nobody listens, and the name of the database is wrong", async (t) => {
    const db = openPostgres("postgres://nobody:secret@127.0.0.1:1/none");
    t.after(() => db.close());
    await assert.rejects(
      db.check(),
      (error) =>
        error instanceof DatabaseUnavailable &&
        /ECONNREFUSED/.test(error.message) &&
        !error.message.includes("secret"),
    );
  });

  it("is said to be unavailable behind something that closes every connection", async (t) => {
    const server = createServer((socket) => socket.on("error", () => {}).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const db = openPostgres(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/none`);
    t.after(() => db.close());
    const answers = Array.from({ length: 30 }, () => assert.rejects(db.check(), DatabaseUnavailable));
    await Promise.all(answers);
  });

  it("is said to be unavailable where its machine is gone without a word, and comes back", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    const address = new URL(url);
    const { port, hostname } = address;
    let isSilent = false;
    const network = createServer((socket) => {
      const server = connect(Number(port), hostname);
      const pass = (from: Socket, to: Socket) =>
        from
          .on("error", () => {})
          .on("data", (bytes) => isSilent || to.write(bytes))
          .on("close", () => to.destroy());
      pass(socket, server);
      pass(server, socket);
    });
    await once(network.listen(0, "127.0.0.1"), "listening");
    t.after(() => network.close());
    address.hostname = "127.0.0.1";
    address.port = String((network.address() as AddressInfo).port);
    const client = createClient(address.href, 1, 100);
    t.after(() => client.end());
    await client`SELECT 1`;
    isSilent = true;
    await assert.rejects(guard(client`SELECT 1`), DatabaseUnavailable);
    isSilent = false;
    const isBack = () =>
      client`SELECT 1`.then(
        () => true,
        () => false,
      );
    while (!(await isBack())) await wait(50);
  });

  it("may crash under load: answers are 201 or 503, and everything acknowledged is there", async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.stop());
    const dataDir = await mkdtemp(join(tmpdir(), "upstow-crash-"));
    t.after(() => rm(dataDir, { recursive: true }));
    const app = await startApp({ database: "postgres", reuse: { dataDir, databaseUrl: postgres.url } });
    t.after(() => app.close());
    const { projectId, live: key } = app.owner;
    const acknowledged: string[] = [];
    let refused = 0;
    let isOver = false;
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let i = 0; !isOver; i++) {
        const slug = `c${client}-${i}`;
        const answer = await app.call("POST", `projects/${projectId}/routers`, { key, body: { slug } });
        if (answer.status === 201) acknowledged.push(slug);
        else {
          expectError(answer, 503, "SERVICE_UNAVAILABLE");
          assert.ok(answer.headers.get("retry-after"));
          refused++;
        }
      }
    });
    for (let round = 1; round <= 2; round++) {
      await until(() => acknowledged.length >= round * 50);
      await postgres.restartImmediate();
      const before = acknowledged.length;
      await until(() => acknowledged.length >= before + 50);
    }
    isOver = true;
    await Promise.all(clients);
    assert.ok(refused > 0, "the crash was felt");
    const { routers } = (await app.call("GET", `projects/${projectId}/routers`, { key })).body;
    const slugs = new Set(routers.map((router: { slug: string }) => router.slug));
    assert.deepEqual(
      acknowledged.filter((slug) => !slugs.has(slug)),
      [],
    );
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}
