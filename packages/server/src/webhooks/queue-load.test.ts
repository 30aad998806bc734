import assert from "node:assert/strict";
import { it } from "node:test";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createNetwork, ok } from "../../test/support/webhooks/network.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import { until } from "../../test/support/webhooks/until.ts";

onBothDatabases("the webhook queue under load", (database) => {
  it("loses nothing and shares no lease among four instances with 10,000 messages", async (t) => {
    const own = await createQueue(database);
    t.after(() => own.close());
    const { sent, send } = createNetwork();
    const projectIds = await Promise.all(Array.from({ length: 8 }, () => own.createProject()));
    await Promise.all(
      projectIds.map(async (projectId, p) => {
        for (let e = 0; e < 10; e++) await own.enqueue(projectId, `https://hooks.example/${p}/${e}`, 125);
      }),
    );
    const instances = await Promise.all([1, 2, 3, 4].map(() => own.createInstance({ send, slots: 32 })));
    for (const instance of instances) instance.start();
    await until(async () => sent.length >= 10_000);
    await Promise.all(instances.map((instance) => instance.close()));
    const messages = await own.messages();
    assert.equal(messages.length, 10_000);
    assert.ok(messages.every((message) => message.state === "delivered" && message.attempt_count === 1));
    assert.equal(sent.length, 10_000);
    assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, 10_000);
    assert.deepEqual(new Set(sent.map(({ attempt }) => attempt)), new Set(["1"]));
  });

  it("keeps a slow endpoint with 2,000 messages from holding up 200 that came later", async (t) => {
    const own = await createQueue(database);
    t.after(() => own.close());
    const slow = await own.createProject();
    await own.enqueue(slow, "https://slow.example/", 2_000);
    // It does not answer at all, so that whoever had to wait for it would wait for ever.
    const { sent, send } = createNetwork(({ url }) =>
      url.href.includes("slow") ? new Promise(() => {}) : Promise.resolve(ok),
    );
    const dispatcher = await own.createInstance({ send, slots: 50, leaseMs: 600_000, drainMs: 0 });
    dispatcher.start();
    await until(async () => sent.length >= 8);
    const fast = await own.createProject();
    await Promise.all(
      Array.from({ length: 10 }, (_, e) => own.enqueue(e < 5 ? fast : slow, `https://fast.example/${e}`, 20)),
    );
    dispatcher.nudge();
    await until(async () => sent.filter(({ url }) => url.includes("fast")).length === 200);
    assert.equal(sent.filter(({ url }) => url.includes("slow")).length, 8);
    await dispatcher.close();
  });
});
