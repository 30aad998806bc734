import assert from "node:assert/strict";
import { it } from "node:test";
import { onBothDatabases } from "../../../test/support/start-app.ts";
import { claimDue } from "./claim.ts";
import { createDispatcher } from "./dispatcher.ts";
import { finishAttempts } from "./finish.ts";
import { forgetOldMessages } from "./retention.ts";
import { createQueue } from "./testing/queue.ts";

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
