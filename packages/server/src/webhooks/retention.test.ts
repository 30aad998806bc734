import assert from "node:assert/strict";
import { it } from "node:test";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import { statement } from "../db/statement.ts";
import { claimDue } from "./claim.ts";
import { createDispatcher } from "./dispatcher.ts";
import { finishAttempts } from "./finish.ts";
import { forgetOldMessages, forgetProject } from "./retention.ts";
import { getSigningKeys } from "./signing-keys.ts";

const listOwners = {
  webhook_signing_key: statement((q, _: object) => q.selectFrom("webhook_signing_key").select("project_id")),
  event_sequence: statement((q, _: object) => q.selectFrom("event_sequence").select("project_id")),
};
const listEndpoints = statement((q, _: object) => q.selectFrom("webhook_endpoint").select("id"));

const dayMs = 24 * 3_600_000;
const signal = new AbortController().signal;

onBothDatabases("webhook messages", (database) => {
  it("are kept for 30 days, and longer while they wait to be sent", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const projectId = await queue.createProject();
    await queue.enqueue(projectId, "https://hooks.example/sent");
    const { claims } = await claimDue(queue.db, { slots: 1, inFlight: new Map(), leaseMs: 60_000 });
    const result = { statusCode: 200, error: null, response: "ok" };
    await finishAttempts(
      queue.db,
      Date.now(),
      claims.map((claim) => ({ claim, result, durationMs: 1, retryDelayMs: null })),
    );
    await queue.enqueue(projectId, null, 600);
    await queue.enqueue(projectId, "https://hooks.example/waiting");
    await forgetOldMessages({ db: queue.db, now: () => Date.now() + 29 * dayMs }, signal);
    assert.equal((await queue.messages()).length, 602);
    await forgetOldMessages({ db: queue.db, now: () => Date.now() + 31 * dayMs }, signal);
    assert.deepEqual(
      (await queue.messages()).map((message) => message.state),
      ["ready"],
    );
    assert.equal((await queue.attempts()).length, 0);
  });

  it("go with their project when it is purged, and so do its keys, however many there are", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const purged = await queue.createProject();
    const kept = await queue.createProject();
    for (const projectId of [purged, kept]) {
      await getSigningKeys(queue.deps, { projectId, environment: "live" });
      await queue.enqueue(projectId, "https://hooks.example/", 600);
      await queue.enqueue(projectId, null, 3, "test");
    }
    await claimDue(queue.db, { slots: 20, inFlight: new Map(), leaseMs: 60_000 });
    await forgetProject(queue.db, purged);
    assert.deepEqual(new Set((await queue.messages()).map((message) => message.project_id)), new Set([kept]));
    assert.equal((await queue.messages()).length, 603);
    const left = await Promise.all(
      (["webhook_signing_key", "event_sequence"] as const).map((table) =>
        queue.db.all(listOwners[table], {}),
      ),
    );
    assert.deepEqual(
      left.map((rows) => new Set(rows.map((row) => row.project_id))),
      [new Set([kept]), new Set([kept])],
    );
    assert.equal((await queue.db.all(listEndpoints, {})).length, 1);
    const messageIds = new Set((await queue.messages()).map(({ id }) => id));
    assert.ok((await queue.attempts()).every((attempt) => messageIds.has(attempt.message_id)));
  });

  it("are counted for the operator: waiting, being sent, overdue, and attempts by outcome", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const { metrics } = queue.deps;
    const dispatcher = createDispatcher(queue.deps, {
      send: async () => ({ statusCode: 404, error: "client_error", response: "" }),
    });
    await queue.enqueue(await queue.createProject(), "https://hooks.example/", 3);
    const [claim] = (await claimDue(queue.db, { slots: 1, inFlight: new Map(), leaseMs: 60_000 })).claims;
    const waiting = await metrics.metrics();
    assert.match(waiting, /^upstow_webhook_queue_depth\{state="ready"\} 2$/m);
    assert.match(waiting, /^upstow_webhook_queue_depth\{state="leased"\} 1$/m);
    assert.match(waiting, /^upstow_webhook_oldest_due_seconds \d/m);
    assert.match(waiting, /^upstow_webhook_failing_endpoints 0$/m);
    assert.ok(claim);
    await dispatcher.deliver(claim);
    const attempted = await metrics.metrics();
    assert.match(attempted, /^upstow_webhook_attempts_total\{outcome="client_error"\} 1$/m);
    assert.match(attempted, /^upstow_webhook_queue_depth\{state="leased"\} 0$/m);
    await dispatcher.close();
  });
});
