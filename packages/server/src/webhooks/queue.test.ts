import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "#kysely";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createNetwork, ok } from "../../test/support/webhooks/network.ts";
import { createFile, createQueue, type TestQueue } from "../../test/support/webhooks/queue.ts";
import { until } from "../../test/support/webhooks/until.ts";
import { statement } from "../db/statement.ts";
import { claimDue, recoverLeases } from "./claim.ts";
import { enqueueUploadCompleted } from "./enqueue.ts";
import { type FinishedAttempt, finishAttempts } from "./finish.ts";
import type { SendResult } from "./send.ts";

const leaseMs = 60_000;

const expireLeases = statement((q, _: object) =>
  q.updateTable("webhook_message").set({ lease_until: 1 }).where(sql<boolean>`state = 'leased'`),
);
const makeDue = statement((q, _: object) => q.updateTable("webhook_message").set({ run_at: 1 }));
const listFailures = statement((q, _: object) =>
  q.selectFrom("log").select("message").where("type", "=", "webhook.failed").orderBy("id"),
);
const pauseAll = statement((q, _: object) =>
  q.updateTable("webhook_endpoint").set({ next_run_at: Date.now() + 3_600_000 }),
);
const wakeAll = statement((q, _: object) => q.updateTable("webhook_endpoint").set({ next_run_at: 1 }));

function take(own: TestQueue, inFlight = new Map<string, number>(), slots = 100) {
  return claimDue(own.db, { slots, inFlight, leaseMs });
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

  it("never has more than eight leases for one endpoint, whoever claims at the same time", async () => {
    await withQueue(async (own) => {
      const projectId = await own.createProject();
      for (let e = 0; e < 3; e++) await own.enqueue(projectId, `https://hooks.example/${e}`, 20);
      const claims = [];
      for (;;) {
        const round = await Promise.all([1, 2, 3].map(() => take(own)));
        claims.push(...round.flatMap((one) => one.claims));
        if (round.every((one) => one.visited.length === 0)) break;
      }
      const byEndpoint = Map.groupBy(claims, (claim) => claim.endpointId);
      assert.deepEqual(
        [...byEndpoint.values()].map((of) => of.length),
        [8, 8, 8],
      );
      assert.equal(new Set(claims.map((claim) => claim.id)).size, 24);

      const [first] = claims;
      assert.ok(first);
      await finishAttempt(own, { claim: first, result: ok, durationMs: 1, retryDelayMs: null });
      const next = await take(own);
      assert.equal(next.claims.length, 1);
      assert.equal(next.claims[0]?.endpointId, first.endpointId);
    });
  });

  it("gives one project no more than 32 of an instance's slots", async () => {
    await withQueue(async (own) => {
      const loud = await own.createProject();
      for (let e = 0; e < 6; e++) await own.enqueue(loud, `https://hooks.example/${e}`, 20);
      const modest = await own.createProject();
      await own.enqueue(modest, "https://hooks.example/", 3);
      const { claims } = await take(own, new Map([[loud, 12]]));
      assert.equal(claims.filter((claim) => claim.projectId === loud).length, 20);
      assert.equal(claims.filter((claim) => claim.projectId === modest).length, 3);
    });
  });

  it("goes on where a project's share held an endpoint back, as soon as it has room, in turn", async () => {
    await withQueue(async (own) => {
      const loud = await own.createProject();
      for (let e = 0; e < 6; e++) await own.enqueue(loud, `https://hooks.example/${e}`, 20);
      const { claims, heldBack } = await take(own);
      assert.equal(claims.length, 32);
      const begun = new Set(claims.map((claim) => claim.endpointId));
      assert.equal(begun.size, 4);
      assert.deepEqual([...heldBack.values()], [loud, loud]);
      await own.db.run(pauseAll, {});
      assert.equal((await take(own)).visited.length, 0);
      const modest = await own.createProject();
      await own.enqueue(modest, "https://hooks.example/", 3);
      const next = await claimDue(own.db, {
        slots: 10,
        inFlight: new Map([[loud, 22]]),
        resumed: [...heldBack.keys(), "gone"],
        leaseMs,
      });
      const ofLoud = next.claims.filter((claim) => claim.projectId === loud);
      assert.ok(ofLoud.length > 0 && ofLoud.every((claim) => heldBack.has(claim.endpointId)));
      assert.equal(next.claims.length, 10);
    });
  });

  it("sends one at a time to an endpoint that timed out five times in a row, until it answers", async () => {
    await withQueue(async (own) => {
      const projectId = await own.createProject();
      await own.enqueue(projectId, "https://slow.example/", 30);
      const takeClaims = async () => (await take(own)).claims;
      const timeout: SendResult = { statusCode: null, error: "timeout", response: null };
      const claims = await takeClaims();
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
      const single = await takeClaims();
      assert.equal(single.length, 1);
      assert.equal((await takeClaims()).length, 0);
      const [claim] = single;
      assert.ok(claim);
      await finishAttempt(own, { claim, result: ok, durationMs: 5, retryDelayMs: null });
      assert.equal((await takeClaims()).length, 8);
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
      const [stale] = (await take(own, new Map(), 1)).claims;
      assert.ok(stale);
      await own.db.run(expireLeases, {});
      assert.equal(await recoverLeases(own.db, Date.now(), 12_000), 1);
      const [fresh] = (await take(own, new Map(), 1)).claims;
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

  it("never gives up what is interrupted, but pauses after five times, ever longer", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://poison.example/");
      const waitsMs: number[] = [];
      for (let attempt = 1; attempt <= 16; attempt++) {
        const { claims } = await take(own, new Map(), 1);
        assert.deepEqual([claims[0]?.attempt, claims[0]?.retried], [attempt, 0]);
        await own.db.run(expireLeases, {});
        await recoverLeases(own.db, Date.now(), 12_000);
        const [message] = await own.messages();
        assert.equal(message?.state, "ready");
        waitsMs.push((message?.run_at ?? 0) - Date.now());
        await own.db.run(makeDue, {});
        await own.db.run(wakeAll, {});
      }
      for (const waitMs of waitsMs.slice(0, 5)) assert.ok(waitMs <= 0, `${waitMs} ms`);
      for (const [i, delayMs] of [12_000, 24_000, 48_000, 96_000].entries()) {
        const waitMs = waitsMs[5 + i] ?? 0;
        assert.ok(waitMs > delayMs - 10_000 && waitMs <= delayMs, `${waitMs} ms`);
      }
      assert.ok((waitsMs.at(-1) ?? 0) <= 3_600_000, "an hour at most");
      assert.ok((await own.attempts()).every(({ error }) => error === "interrupted"));
      const logged = (await own.db.all(listFailures, {})).map(({ message }) => message);
      assert.equal(logged.length, 11);
      assert.match(logged[0] ?? "", /^Attempt 6 was interrupted, like those before it\. Next .* in 12 s/);
    });
  });

  it("has forgotten interruptions once an attempt has ended by itself", async () => {
    await withQueue(async (own) => {
      await own.enqueue(await own.createProject(), "https://hooks.example/");
      const interrupt = async () => {
        await take(own, new Map(), 1);
        await own.db.run(expireLeases, {});
        await recoverLeases(own.db, Date.now(), 12_000);
      };
      for (let i = 0; i < 5; i++) await interrupt();
      const [claim] = (await take(own, new Map(), 1)).claims;
      assert.ok(claim);
      const failure: SendResult = { statusCode: 500, error: "server_error", response: "no" };
      await finishAttempt(own, { claim, result: failure, durationMs: 1, retryDelayMs: 0 });
      for (let i = 0; i < 5; i++) await interrupt();
      const [message] = await own.messages();
      assert.deepEqual([message?.state, message?.retried], ["ready", 1]);
    });
  });

  it("serves endpoints in turn, not in the order in which messages came", async () => {
    await withQueue(async (own) => {
      const loud = await own.createProject();
      const modest = await own.createProject();
      await own.enqueue(loud, "https://loud.example/", 500);
      await own.enqueue(modest, "https://modest.example/", 3);
      const first = await take(own, new Map(), 20);
      assert.equal(first.claims.filter((claim) => claim.url.includes("modest")).length, 3);
      assert.equal(first.claims.filter((claim) => claim.url.includes("loud")).length, 8);
    });
  });

  it("gives the slots of attempts that take long to others, up to eight attempts a slot", async () => {
    await withQueue(async (own) => {
      const { sent, send } = createNetwork(({ url }) =>
        url.href.includes("silent") ? new Promise(() => {}) : Promise.resolve(ok),
      );
      const options = { send, slots: 2, longAfterMs: 50, pollMs: 20, drainMs: 0 };
      const dispatcher = await own.createInstance(options);
      const enqueueSilent = async (count: number) => {
        for (let i = 0; i < count; i++)
          await own.enqueue(await own.createProject(), `https://silent.example/${i}`);
      };
      await enqueueSilent(4);
      dispatcher.start();
      await until(async () => sent.length === 4);
      await own.enqueue(await own.createProject(), "https://fast.example/");
      await until(async () => sent.some(({ url }) => url.includes("fast")));
      await enqueueSilent(20);
      await until(async () => sent.length === 1 + 16);
      await wait(200);
      assert.equal(sent.length, 1 + 16);
      await dispatcher.close();
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
