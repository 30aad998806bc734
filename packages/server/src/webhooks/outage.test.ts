import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "#kysely";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { createNetwork } from "../../test/support/webhooks/network.ts";
import { createQueue, type TestQueue } from "../../test/support/webhooks/queue.ts";
import { until } from "../../test/support/webhooks/until.ts";
import { type Database, DatabaseUnavailable } from "../db/database.ts";
import { openPostgres } from "../db/postgres/postgres.ts";
import { openSqlite } from "../db/sqlite/sqlite.ts";
import { statement } from "../db/statement.ts";
import { createOutboundGuard } from "../kernel/net/outbound-guard.ts";
import type { Send } from "./send.ts";
import { getSigningKeys } from "./signing-keys.ts";

const listLogRows = statement((q, _: object) => q.selectFrom("log").selectAll());
const breakKeys = statement((q, p: { projectId: string }) =>
  q
    .updateTable("webhook_signing_key")
    .set({ current_sealed: "00000000.AAAA" })
    .where("project_id", "=", p.projectId),
);

/** Stands between a client and PostgreSQL, and can be cut like a cable. */
async function startCable(targetUrl: string) {
  const target = new URL(targetUrl);
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const server = net.createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    const upstream = net.connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(targetUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    mend() {
      isCut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

// A minute passes on the database's clock, the only one that queue and leases go by: all that is planned comes nearer.
const ageMessages = statement((q, _: object) =>
  q
    .updateTable("webhook_message")
    .set({ run_at: sql`run_at - 60000`, lease_until: sql`lease_until - 60000` }),
);
const ageEndpoints = statement((q, _: object) =>
  q.updateTable("webhook_endpoint").set({ next_run_at: sql`next_run_at - 60000` }),
);

interface Outage {
  /** The database as the dispatcher reaches it. */
  db: Database;
  cut(): Promise<void>;
  /** While the database is cut off. */
  passMinute(): Promise<void>;
  mend(): void;
  close(): Promise<void>;
}

async function cableTo(queue: TestQueue): Promise<Outage> {
  const cable = await startCable(queue.databaseUrl ?? "");
  const db = openPostgres(cable.url, { maxConnections: 4 });
  return {
    ...cable,
    db,
    cut: async () => cable.cut(),
    async passMinute() {
      await queue.db.run(ageMessages, {});
      await queue.db.run(ageEndpoints, {});
    },
    async close() {
      await db.close();
      await cable.close();
    },
  };
}

/** Another process that holds the embedded database's only lock does what a dead server does: nobody can write. */
async function lockOf(queue: TestQueue): Promise<Outage> {
  const db = openSqlite(queue.databasePath);
  const holder = new DatabaseSync(queue.databasePath, { timeout: 5_000 });
  return {
    db,
    cut: async () => holder.exec("BEGIN IMMEDIATE"),
    async passMinute() {
      for (const aging of [ageMessages, ageEndpoints]) holder.exec(aging.compile("sqlite").sql);
    },
    mend: () => holder.exec("COMMIT"),
    async close() {
      await db.close();
      holder.close();
    },
  };
}

// The embedded engine waits five seconds for a lock before it gives up.
const outageMs = { sqlite: 6_500, postgres: 2_500 };

onAnyDatabase("a database that goes away while messages are being sent", (database) => {
  it("is waited for, and everything arrives", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const outage = await (database === "postgres" ? cableTo(queue) : lockOf(queue));
    t.after(() => outage.close());
    const sent = new Map<string, number>();
    const send: Send = async ({ headers }) => {
      const id = headers["delivery-message-id"] ?? "";
      sent.set(id, (sent.get(id) ?? 0) + 1);
      await wait(20);
      return { statusCode: 200, error: null, response: "" };
    };
    const projectId = await queue.createProject();
    for (let e = 0; e < 4; e++) await queue.enqueue(projectId, `https://hooks.example/${e}`, 50);
    // The outage outlasts the leases, so what was being sent is lost to its worker and sent again.
    const options = { send, leaseMs: 1_000, pollMs: 100 };
    const dispatcher = await queue.createInstance(options, { db: outage.db });
    dispatcher.start();
    await until(async () => sent.size >= 30);
    await outage.cut();
    await wait(outageMs[database]);
    assert.ok(sent.size < 200);
    outage.mend();
    await until(async () => (await queue.messages()).every((message) => message.state === "delivered"));
    assert.equal(sent.size, 200);
    assert.ok((await queue.messages()).every((message) => message.retried === 0));
    await dispatcher.close();
  });
});

onAnyDatabase("a database that is down for a minute", (database) => {
  it("costs no event and no retry, with the leases and limits of a real installation", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const outage = await (database === "postgres" ? cableTo(queue) : lockOf(queue));
    t.after(() => outage.close());
    const { sent, send } = createNetwork();
    const dispatcher = await queue.createInstance({ send }, { db: outage.db });
    const projectId = await queue.createProject();
    for (let e = 0; e < 4; e++) await queue.enqueue(projectId, `https://hooks.example/${e}`, 50);
    dispatcher.start();
    await until(async () => sent.length >= 30);
    await outage.cut();
    await assert.rejects(outage.db.run(ageEndpoints, {}), DatabaseUnavailable);
    await outage.passMinute();
    outage.mend();
    await until(async () => (await queue.messages()).every((message) => message.state === "delivered"));
    assert.ok((await queue.messages()).every((message) => message.retried === 0));
    assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, 200);
    await dispatcher.close();
  });
});

onAnyDatabase("what an operator and a customer get to see of a failure", (database) => {
  it("holds neither keys nor the address behind a name", async (t) => {
    const queue = await createQueue(database, { retryBaseMs: 5 });
    t.after(() => queue.close());
    const secretAddress = "10.77.66.55";
    const webhookGuard = createOutboundGuard({
      allow: queue.deps.config.webhookAllowCidrs,
      resolve: async () => [{ address: secretAddress, family: 4 }],
    });
    const projectId = await queue.createProject();
    const keys = await getSigningKeys(queue.deps, { projectId, environment: "live" });
    await queue.enqueue(projectId, "https://inside.example/hook");
    const dispatcher = await queue.createInstance({}, { webhookGuard });
    dispatcher.start();
    await until(async () => (await queue.messages())[0]?.state === "dead");
    await dispatcher.close();
    const attempts = await queue.attempts();
    assert.deepEqual(
      attempts.map(({ error }) => error),
      ["blocked", "blocked", "blocked", "blocked"],
    );
    const visible = JSON.stringify([attempts, await queue.db.all(listLogRows, {}), queue.logLines]);
    for (const secret of [secretAddress, keys.current, keys.next, "whsec_"]) {
      assert.ok(!visible.includes(secret), secret);
    }
  });

  it("of keys that cannot be opened fails that project alone", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const broken = await queue.createProject();
    const sound = await queue.createProject();
    await getSigningKeys(queue.deps, { projectId: broken, environment: "live" });
    await queue.db.run(breakKeys, { projectId: broken });
    await queue.enqueue(broken, "https://hooks.example/a");
    await queue.enqueue(sound, "https://hooks.example/b");
    const urls: string[] = [];
    const dispatcher = await queue.createInstance({
      send: async ({ url }) => {
        urls.push(url.href);
        return { statusCode: 200, error: null, response: "" };
      },
    });
    dispatcher.start();
    const ended = await until(async () => {
      const attempts = (await queue.attempts()).filter(({ duration_ms: duration }) => duration !== null);
      return attempts.length === 2 && attempts;
    });
    const projects = new Map((await queue.messages()).map((message) => [message.id, message.project_id]));
    const errors = new Map(ended.map((attempt) => [projects.get(attempt.message_id), attempt.error]));
    assert.equal(errors.get(broken), "internal");
    assert.equal(errors.get(sound), null);
    assert.deepEqual(urls, ["https://hooks.example/b"]);
  });
});
