import assert from "node:assert/strict";
import { it } from "node:test";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { loadFourInstances } from "../../test/support/webhooks/load-four-instances.ts";
import { createNetwork, ok } from "../../test/support/webhooks/network.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import { until } from "../../test/support/webhooks/until.ts";

onAnyDatabase(
  "the webhook queue under load",
  (database) => {
    // Many more: queue-load.slow.test.ts
    it("loses nothing and shares no lease among four instances", async (t) => {
      await loadFourInstances(t, database, 20);
    });

    it("keeps a slow endpoint with 2,000 messages from holding up 200 that came later", async (t) => {
      const own = await createQueue(database);
      t.after(() => own.close());
      const slow = await own.createProject();
      await own.enqueue(slow, "https://slow.example/", 2_000);
      // It never responds, so any request that waits for it hangs.
      const { sent, send } = createNetwork(({ url }) =>
        url.href.includes("slow") ? new Promise(() => {}) : Promise.resolve(ok),
      );
      const dispatcher = await own.createInstance({ send, slots: 50, leaseMs: 600_000, drainMs: 0 });
      dispatcher.start();
      await until(async () => sent.length >= 8);
      const fast = await own.createProject();
      await Promise.all(
        Array.from({ length: 10 }, (_, e) =>
          own.enqueue(e < 5 ? fast : slow, `https://fast.example/${e}`, 20),
        ),
      );
      dispatcher.nudge();
      await until(async () => sent.filter(({ url }) => url.includes("fast")).length === 200);
      assert.equal(sent.filter(({ url }) => url.includes("slow")).length, 8);
      await dispatcher.close();
    });
  },
  "postgres",
);
