import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { onBothDatabases } from "../../../test/support/start-app.ts";
import { statement } from "../../db/statement.ts";
import { claimDue } from "./claim.ts";
import { enqueueUploadCompleted } from "./enqueue.ts";
import { type FinishedAttempt, finishAttempts } from "./finish.ts";
import { recoverLeases } from "./recover-leases.ts";
import type { OutgoingDelivery, Send, SendResult } from "./send.ts";
import { createFile, createQueue, type TestQueue } from "./testing/queue.ts";
import { until } from "./testing/until.ts";

const ok: SendResult = { statusCode: 200, error: null, response: "" };
const leaseMs = 60_000;

const expireLeases = statement((q, _: object) =>
  q.updateTable("webhook_message").set({ lease_until: 1 }).where(sql<boolean>`state = 'leased'`),
);
const makeDue = statement((q, _: object) => q.updateTable("webhook_message").set({ run_at: 1 }));
const wakeAll = statement((q, _: object) => q.updateTable("webhook_endpoint").set({ next_run_at: 1 }));

/** A network that answers at once and remembers every request. */
function createNetwork(answer: (delivery: OutgoingDelivery) => Promise<SendResult> = async () => ok) {
  const sent: { url: string; messageId: string; attempt: string }[] = [];
  const send: Send = async (delivery, stop) => {
    sent.push({
      url: delivery.url,
      messageId: delivery.headers["delivery-message-id"] ?? "",
      attempt: delivery.headers["delivery-attempt"] ?? "",
    });
    const stopped = new Promise<never>((_resolve, reject) => {
      stop.addEventListener("abort", () => reject(stop.reason));
    });
    return Promise.race([answer(delivery), stopped]);
  };
  return { sent, send };
}

async function finishAttempt(own: TestQueue, attempt: FinishedAttempt) {
  const [noted] = await finishAttempts(own.db, Date.now(), [attempt]);
  return noted;
}

onBothDatabases("the webhook queue", (database) => {
  let queue: TestQueue;
  before(async () => {
    queue = await createQueue(database);
  });
  after(() => queue.close());

  /** Every test has a queue of its own. */
  async function withQueue(work: (own: TestQueue) => Promise<void>, retryBaseMs?: number) {
    const own = await createQueue(database, retryBaseMs === undefined ? {} : { retryBaseMs });
    try {
      await work(own);
    } finally {
      await own.close();
    }
  }

  it("has one message for a file, however often and at once it is completed", async () => {
    const projectId = await queue.createProject();
    const file = createFile(projectId, "live");
    const upload = { file, webhookUrl: "https://hooks.example/a", fileUrl: "https://cdn.example/a" };
    const enqueue = () => queue.db.transact((tx) => enqueueUploadCompleted(tx, Date.now(), upload));
    await Promise.all([enqueue(), enqueue(), enqueue(), enqueue()]);
    const messages = await queue.messages();
    assert.equal(messages.filter((message) => message.file_id === file.id).length, 1);
  });

  it("numbers the events of an environment in the order of their commits, without gaps", async () => {
    const projectId = await queue.createProject();
    await Promise.all(Array.from({ length: 20 }, () => queue.enqueue(projectId, null, 5)));
    const mine = (await queue.messages()).filter((message) => message.project_id === projectId);
    const numbers = mine.map((message) => message.seq).sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    assert.ok(mine.every((message) => message.state === "recorded"));
  });

  it("loses nothing and shares no lease among four instances with 10,000 messages", async () => {
    await withQueue(async (own) => {
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
  });

  it("never has more than eight leases for one endpoint and 32 for one project", async () => {
    await withQueue(async (own) => {
      const projectId = await own.createProject();
      for (let e = 0; e < 6; e++) await own.enqueue(projectId, `https://hooks.example/${e}`, 20);
      const claims = [];
      for (;;) {
        const round = await Promise.all([1, 2, 3].map(() => claimDue(own.db, { slots: 100, leaseMs })));
        claims.push(...round.flatMap((one) => one.claims));
        if (round.every((one) => one.visited === 0)) break;
      }
      const byEndpoint = Map.groupBy(claims, (claim) => claim.endpointId);
      assert.ok([...byEndpoint.values()].every((of) => of.length <= 8));
      assert.equal(claims.length, 32);
      assert.equal(new Set(claims.map((claim) => claim.id)).size, 32);

      const [first] = claims;
      assert.ok(first);
      await finishAttempt(own, {
        claim: first,
        result: ok,
        durationMs: 1,
        retryDelayMs: null,
      });
      const next = await claimDue(own.db, { slots: 100, leaseMs });
      assert.equal(next.claims.length, 1);
      assert.equal(next.claims[0]?.endpointId, first.endpointId);
    });
  });

  it("sends one at a time to an endpoint that timed out five times in a row, until it answers", async () => {
    await withQueue(async (own) => {
      const projectId = await own.createProject();
      await own.enqueue(projectId, "https://slow.example/", 30);
      const take = async () => (await claimDue(own.db, { slots: 100, leaseMs })).claims;
      const timeout: SendResult = { statusCode: null, error: "timeout", response: null };
      const claims = await take();
      assert.equal(claims.length, 8);
      let inARow = 0;
      for (const claim of claims) {
        const noted = await finishAttempt(own, {
          claim,
          result: timeout,
          durationMs: 30_000,
          retryDelayMs: 12_000,
        });
        inARow += 1;
        assert.equal(noted?.consecutiveTimeouts, inARow);
      }
      const single = await take();
      assert.equal(single.length, 1);
      assert.equal((await take()).length, 0);
      const [claim] = single;
      assert.ok(claim);
      await finishAttempt(own, { claim, result: ok, durationMs: 5, retryDelayMs: null });
      assert.equal((await take()).length, 8);
    });
  });

  it("keeps a slow endpoint with 2,000 messages from holding up 200 that came later", async () => {
    await withQueue(async (own) => {
      const slow = await own.createProject();
      await own.enqueue(slow, "https://slow.example/", 2_000);
      const { sent, send } = createNetwork(async ({ url }) => {
        await wait(url.includes("slow") ? 3_000 : 2, undefined, { ref: false });
        return ok;
      });
      const dispatcher = await own.createInstance({ send, slots: 50, drainMs: 0 });
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
      // Each round of eight takes three seconds there; the fast ones had to wait for hardly any of them.
      const before = sent.slice(
        0,
        sent.findLastIndex(({ url }) => url.includes("fast")),
      );
      assert.ok(before.filter(({ url }) => url.includes("slow")).length <= 16);
      await dispatcher.close();
    });
  });

  it("makes four attempts, each retry within a fifth of its time, then gives up", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://broken.example/", 40);
      const failure: SendResult = { statusCode: 500, error: "server_error", response: "no" };
      const { sent, send } = createNetwork(async () => failure);
      const dispatcher = await own.createInstance({ send });
      dispatcher.start();
      const jitters = new Set<number>();
      for (const [round, delayMs] of [12_000, 148_000, 1_808_000].entries()) {
        const attempted = 40 * (round + 1);
        await until(async () => (await own.messages()).every((message) => message.retried === round + 1));
        assert.equal(sent.length, attempted);
        const attempts = await own.attempts();
        for (const message of await own.messages()) {
          const last = attempts.findLast((attempt) => attempt.message_id === message.id);
          const plannedMs = message.run_at - (last?.started_at ?? 0) - (last?.duration_ms ?? 0);
          // The write that plans the retry comes a little after the answer.
          assert.ok(plannedMs >= delayMs * 0.8 - 2 && plannedMs <= delayMs * 1.2 + 2_000, `${plannedMs} ms`);
          jitters.add(Math.round((plannedMs / delayMs) * 100));
        }
        await own.db.run(makeDue, {});
        await own.db.run(wakeAll, {});
        dispatcher.nudge();
      }
      await until(async () => (await own.messages()).every((message) => message.state === "dead"));
      assert.equal(sent.length, 160);
      assert.ok(jitters.size > 10, "retries are spread");
      await dispatcher.close();
    });
  });

  it("does not let a worker finish what was given to another", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://hooks.example/");
      const [stale] = (await claimDue(own.db, { slots: 1, leaseMs })).claims;
      assert.ok(stale);
      await own.db.run(expireLeases, {});
      assert.equal(await recoverLeases(own.db, Date.now()), 1);
      const [fresh] = (await claimDue(own.db, { slots: 1, leaseMs })).claims;
      assert.equal(fresh?.id, stale.id);
      assert.equal(fresh.attempt, 2);
      assert.equal(fresh.retried, 0);
      const late = await finishAttempt(own, {
        claim: stale,
        result: ok,
        durationMs: 1,
        retryDelayMs: null,
      });
      assert.equal(late, null);
      const [message] = await own.messages();
      assert.equal(message?.state, "leased");
      const done = { claim: fresh, result: ok, durationMs: 1, retryDelayMs: null };
      assert.ok(await finishAttempt(own, done));
      assert.equal((await own.messages())[0]?.state, "delivered");
      assert.deepEqual(
        (await own.attempts()).map((attempt) => [attempt.number, attempt.error, attempt.status_code]),
        [
          [1, "interrupted", null],
          [2, null, 200],
        ],
      );
    });
  });

  it("takes a message back from dead workers five times without charging it, and then no more", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://poison.example/");
      for (let i = 1; i <= 6; i++) {
        const { claims } = await claimDue(own.db, { slots: 1, leaseMs });
        assert.equal(claims[0]?.attempt, i);
        assert.equal(claims[0]?.retried, 0);
        await own.db.run(expireLeases, {});
        await recoverLeases(own.db, Date.now());
      }
      const [message] = await own.messages();
      assert.equal(message?.state, "dead");
      assert.equal((await claimDue(own.db, { slots: 1, leaseMs })).claims.length, 0);
    });
  });

  it("serves endpoints in turn, not in the order in which messages came", async () => {
    await withQueue(async (own) => {
      const loud = await own.createProject();
      const modest = await own.createProject();
      await own.enqueue(loud, "https://loud.example/", 500);
      await own.enqueue(modest, "https://modest.example/", 3);
      const first = await claimDue(own.db, { slots: 20, leaseMs });
      assert.equal(first.claims.filter((claim) => claim.url.includes("modest")).length, 3);
      assert.equal(first.claims.filter((claim) => claim.url.includes("loud")).length, 8);
    });
  });

  it("never dispatches an event without a URL", async () => {
    await withQueue(async (own) => {
      const projectId = await own.createProject();
      await own.enqueue(projectId, null, 3);
      await own.enqueue(projectId, "https://hooks.example/");
      const { sent, send } = createNetwork();
      const dispatcher = await own.createInstance({ send });
      dispatcher.start();
      await until(async () => sent.length === 1);
      await dispatcher.close();
      assert.deepEqual((await own.messages()).map((message) => message.state).sort(), [
        "delivered",
        "recorded",
        "recorded",
        "recorded",
      ]);
      assert.equal(sent.length, 1);
    });
  });

  it("finishes what it is sending when it is closed, and claims nothing more", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://hooks.example/", 20);
      const release = Promise.withResolvers<SendResult>();
      const { sent, send } = createNetwork(() => release.promise);
      const dispatcher = await own.createInstance({ send });
      dispatcher.start();
      await until(async () => sent.length === 8);
      const closed = dispatcher.close();
      // A claim that was already on its way finds the endpoint at its cap.
      await wait(100);
      release.resolve(ok);
      await closed;
      const states = (await own.messages()).map((message) => message.state);
      assert.equal(states.filter((state) => state === "delivered").length, 8);
      assert.equal(states.filter((state) => state === "ready").length, 12);
      assert.equal(sent.length, 8);
    });
  });

  it("leaves to its lease what outlives the drain", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://hooks.example/");
      const { sent, send } = createNetwork(() => new Promise(() => {}));
      const dispatcher = await own.createInstance({ send, drainMs: 10 });
      dispatcher.start();
      await until(async () => sent.length === 1);
      await dispatcher.close();
      const [message] = await own.messages();
      assert.equal(message?.state, "leased");
      assert.equal(message?.retried, 0);
    });
  });

  it("hears of messages from other instances without a poll", async () => {
    await withQueue(async (own) => {
      const { sent, send } = createNetwork();
      const dispatcher = await own.createInstance({ send, pollMs: 600_000 });
      dispatcher.start();
      const other = database === "postgres" ? await own.createInstance({ send }) : dispatcher;
      // The first look finds nothing; only a call can wake it now.
      await wait(100);
      await own.enqueue(await own.createProject(), "https://hooks.example/");
      other.nudge();
      await until(async () => sent.length === 1);
    });
  });
});
