import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "#kysely";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { createFile, createQueue } from "../../test/support/webhooks/queue.ts";
import { statement } from "../db/statement.ts";
import { claimDue } from "./claim.ts";
import { enqueueUploadCompleted } from "./enqueue.ts";

/** On PostgreSQL also which version of the row it is. */
const findEndpoint = statement((q, _: object, dialect) =>
  q
    .selectFrom("webhook_endpoint")
    .selectAll()
    .select(
      sql<string>`${sql.raw(dialect === "postgres" ? "xmin::text || ctid::text" : "''")}`.as("version"),
    ),
);

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
});
