import assert from "node:assert/strict";
import { it } from "node:test";
import { sql } from "#kysely";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import { statement } from "../db/statement.ts";
import { claimDue } from "./claim.ts";

/** On PostgreSQL also which version of the row it is. */
const findEndpoint = statement((q, _: object, dialect) =>
  q
    .selectFrom("webhook_endpoint")
    .selectAll()
    .select(
      sql<string>`${sql.raw(dialect === "postgres" ? "xmin::text || ctid::text" : "''")}`.as("version"),
    ),
);

onBothDatabases("a new message", (database) => {
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
});
