import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "#kysely";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { ok } from "../../test/support/webhooks/network.ts";
import { createFile, createQueue } from "../../test/support/webhooks/queue.ts";
import type { Database } from "../db/database.ts";
import { type Statement, statement } from "../db/statement.ts";
import { claimDue } from "./claim.ts";
import { enqueueUploadCompleted } from "./enqueue.ts";
import { finishAttempts } from "./finish.ts";
import { listDue } from "./queue-queries.ts";

/** On PostgreSQL also which version of the row it is. */
const findEndpoint = statement((q, _: object, dialect) =>
  q
    .selectFrom("webhook_endpoint")
    .selectAll()
    .select(
      sql<string>`${sql.raw(dialect === "postgres" ? "xmin::text || ctid::text" : "''")}`.as("version"),
    ),
);

/** Its transactions stand still once they know what is due, until told to go on. */
function standStill(db: Database) {
  const [stands, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transact: Database["transact"] = (work) =>
    db.transact((tx) => {
      const all = async (asked: Statement<object, unknown>, params: object) => {
        const rows = await tx.all(asked, params);
        if (asked !== listDue) return rows;
        stands.resolve();
        await goesOn.promise;
        return rows;
      };
      return work({ ...tx, all: all as typeof tx.all });
    });
  return { db: { ...db, transact }, stands: stands.promise, goOn: goesOn.resolve };
}

onAnyDatabase("a new message", (database) => {
  it("leaves an endpoint as it is that waits already, and wakes one that does not", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const projectId = await queue.createProject();
    const enqueue = () => queue.enqueue(projectId, "https://hooks.example/a");
    const take = () => claimDue(queue.db, { slots: 100, inFlight: new Map(), leaseMs: 60_000 });
    await enqueue();
    const waiting = await queue.db.get(findEndpoint, {});
    for (let i = 0; i < 3; i++) await enqueue();
    assert.deepEqual(await queue.db.get(findEndpoint, {}), waiting);
    assert.equal((await take()).claims.length, 4);
    assert.deepEqual((await take()).visited, []);
    await enqueue();
    assert.equal((await take()).claims.length, 1);
  });

  // The embedded database has one writer.
  if (database === "postgres")
    it("gets its number while a transaction that began before is still open", async (t) => {
      const queue = await createQueue(database);
      t.after(() => queue.close());
      const projectId = await queue.createProject();
      const [hasBegun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const open = queue.db.transact(async (tx) => {
        const file = createFile(projectId, "live");
        await enqueueUploadCompleted(tx, Date.now(), {
          file,
          webhookUrl: null,
          fileUrl: "https://cdn.example/a",
        });
        hasBegun.resolve();
        await goesOn.promise;
        return file.id;
      });
      await hasBegun.promise;
      await queue.enqueue(projectId, null, 2);
      goesOn.resolve();
      const last = await open;
      const mine = (await queue.messages()).filter((message) => message.project_id === projectId);
      assert.deepEqual(mine.map((message) => message.seq).sort(), [1, 2, 3]);
      assert.equal(mine.find((message) => message.file_id === last)?.seq, 3, "in the order of the commits");
    });

  if (database === "postgres")
    it("waits for no instance that stands still with a claim, and neither does the end of an attempt", async (t) => {
      const queue = await createQueue(database);
      t.after(() => queue.close());
      const projectId = await queue.createProject();
      const options = { slots: 100, inFlight: new Map(), leaseMs: 60_000 };
      const enqueue = () => queue.enqueue(projectId, "https://hooks.example/a");
      await enqueue();
      const [first] = (await claimDue(queue.db, options)).claims;
      assert.ok(first);
      await enqueue();
      const { db, stands, goOn } = standStill(queue.db);
      const claiming = claimDue(db, options);
      await stands;
      assert.deepEqual((await claimDue(queue.db, options)).visited, [], "one instance claims at a time");
      await enqueue();
      await finishAttempts(queue.db, Date.now(), [
        { claim: first, result: ok, durationMs: 1, retryDelayMs: null },
      ]);
      goOn();
      assert.equal((await claiming).claims.length, 1);
      assert.equal((await claimDue(queue.db, options)).claims.length, 1, "what came meanwhile follows");
      assert.equal((await queue.db.get(findEndpoint, {}))?.live_leases, 2);
    });
});
