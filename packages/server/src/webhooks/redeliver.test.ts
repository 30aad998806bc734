import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { onAnyDatabase, onBothDatabases, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import { useDeliveries } from "../../test/support/webhooks/deliveries.ts";
import { createQueue, type TestQueue } from "../../test/support/webhooks/queue.ts";
import type { Receiver } from "../../test/support/webhooks/receiver.ts";
import { uploadFile } from "../../test/support/webhooks/upload.ts";
import { statement } from "../db/statement.ts";
import type { Actor } from "../kernel/actor.ts";
import { type Claim, claimDue, recoverLeases } from "./claim.ts";
import { requeueMessages } from "./delivery-queries.ts";
import { endpointIdOf } from "./enqueue.ts";
import { finishAttempts } from "./finish.ts";
import { redeliverMany } from "./redeliver.ts";

const expireLeases = statement((q, _: object) => q.updateTable("webhook_message").set({ lease_until: 1 }));
const makeDue = statement((q, _: object) => q.updateTable("webhook_message").set({ run_at: 1 }));
const wakeAll = statement((q, _: object) => q.updateTable("webhook_endpoint").set({ next_run_at: 1 }));
const listLeaseCounts = statement((q, _: object) => q.selectFrom("webhook_endpoint").select("live_leases"));
const listFailures = statement((q, _: object) =>
  q.selectFrom("log").select("message").where("type", "=", "webhook.failed").orderBy("id", "desc"),
);

onAnyDatabase("redelivery over the API", (database) => {
  let app: TestApp;
  let receiver: Receiver;
  let tenant: Tenant;

  const { current, createRoute, listDeliveries, waitForStatus } = useDeliveries(database);
  beforeEach(() => {
    ({ app, receiver, tenant } = current());
  });

  it("sends a delivered one again, to the address that the route has now", async () => {
    const route = await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    const [first] = await waitForStatus("delivered");
    const moved = `${receiver.url}/moved`;
    await app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { webhookUrl: moved } });
    await app.call("POST", `webhooks/deliveries/${first.id}/redeliver`, { key: tenant.live });
    await receiver.waitFor(2);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/docs", "/moved"],
    );
    const [again] = await waitForStatus("delivered");
    assert.equal(again.url, moved);
    assert.equal(again.messageId, first.messageId);
  });

  it("repeats its first answer under an Idempotency-Key, and sends nothing twice", async () => {
    await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    const [first] = await waitForStatus("delivered");
    const redeliver = () =>
      app.call("POST", `webhooks/deliveries/${first.id}/redeliver`, {
        key: tenant.live,
        headers: { "idempotency-key": "again" },
      });
    const asked = await redeliver();
    assert.equal(asked.body.delivery.status, "pending");
    await receiver.waitFor(2);
    await waitForStatus("delivered");
    const repeated = await redeliver();
    assert.equal(repeated.headers.get("idempotency-replayed"), "true");
    assert.deepEqual(repeated.body, asked.body);
    assert.equal(receiver.received.length, 2);
  });

  /** Answers the attempt of this number only when told to, and all with this status. */
  function holdAttempt(number: number, status: number): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    receiver.answer = async ({ headers }, response) => {
      if (headers["delivery-attempt"] === String(number)) await promise;
      response.writeHead(status).end();
    };
    return resolve;
  }

  it("redelivers with fresh retries what is asked for again during its last attempt", async () => {
    const answer = holdAttempt(4, 500);
    await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    await receiver.waitFor(4);
    const [pending] = await listDeliveries();
    const asked = await app.call("POST", `webhooks/deliveries/${pending.id}/redeliver`, { key: tenant.live });
    assert.deepEqual([asked.status, asked.body.delivery.status], [200, "pending"]);
    answer();
    const [dead] = await waitForStatus("dead");
    assert.equal(dead.attemptCount, 8);
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers["delivery-retried"]),
      ["0", "1", "2", "3", "0", "1", "2", "3"],
    );
    const { attempts } = (await app.call("GET", `webhooks/deliveries/${dead.id}`, { key: tenant.live })).body
      .delivery;
    assert.ok(attempts.every(({ statusCode }: { statusCode: number }) => statusCode === 500));
  });

  it("redelivers to the new address what is asked for again during an attempt that then succeeds", async () => {
    const answer = holdAttempt(1, 200);
    const route = await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    await receiver.waitFor(1);
    const moved = `${receiver.url}/moved`;
    await app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { webhookUrl: moved } });
    const asked = await app.call("POST", "webhooks/deliveries/redeliver", {
      key: tenant.live,
      body: { filter: { status: "pending" } },
    });
    assert.deepEqual(asked.body, { matched: 1, queued: 1 });
    answer();
    const [delivered] = await waitForStatus("delivered");
    assert.deepEqual([delivered.attemptCount, delivered.url], [2, moved]);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/docs", "/moved"],
    );
  });

  it("redelivers many by id or filter, counts in a dry run, and touches no other project", async () => {
    receiver.answer = (_request, response) => void response.writeHead(400).end();
    await createRoute("one");
    await createRoute("two");
    const stranger = await app.createTenant("pro");
    for (const slug of ["one", "one", "two"]) await uploadFile(app, tenant.live, slug);
    const dead = await waitForStatus("dead", 3);
    receiver.answer = (_request, response) => void response.end();
    const redeliver = (body: object, key = tenant.live) =>
      app.call("POST", "webhooks/deliveries/redeliver", { key, body });

    const ids = dead.map(({ id }: { id: string }) => id);
    assert.deepEqual((await redeliver({ ids }, stranger.live)).body, { matched: 0, queued: 0 });
    assert.deepEqual((await redeliver({ ids }, tenant.test)).body, { matched: 0, queued: 0 });
    assert.equal(
      (await app.call("POST", `webhooks/deliveries/${ids[0]}/redeliver`, { key: stranger.live })).status,
      404,
    );
    assert.equal((await app.call("GET", `webhooks/deliveries/${ids[0]}`, { key: tenant.test })).status, 404);

    const dryRun = await redeliver({ filter: { status: "dead", routeSlug: "one" }, dryRun: true });
    assert.deepEqual(dryRun.body, { matched: 2, queued: 0 });
    const future = new Date(app.clock.now() + 60_000).toISOString();
    assert.deepEqual((await redeliver({ filter: { status: "dead", since: future } })).body, {
      matched: 0,
      queued: 0,
    });
    const since = new Date(app.clock.now() - 60_000).toISOString();
    const byFilter = await redeliver({ filter: { status: "dead", routeSlug: "one", since, until: future } });
    assert.deepEqual(byFilter.body, { matched: 2, queued: 2 });
    await waitForStatus("delivered", 2);
    const byId = await redeliver({ ids: [...ids, "unknown"] });
    assert.equal(byId.body.matched, 3);
    await waitForStatus("delivered", 3);

    const { deps } = app.app;
    const actor = { projectId: tenant.projectId, environment: "live" } as Actor;
    for (const body of [{ ids }, { filter: {} }])
      await assert.rejects(redeliverMany(deps, actor, body, () => Promise.reject(new Error("place lost"))));
    assert.equal(
      (await listDeliveries("?status=delivered")).length,
      3,
      "a call that lost its place queues nothing",
    );

    for (const body of [{}, { ids, filter: {} }, { ids: [] }, { filter: { status: "lost" } }, { ids: "x" }]) {
      assert.equal((await redeliver(body)).body.error.code, "VALIDATION_ERROR", JSON.stringify(body));
    }
  });
});

onBothDatabases("a redelivery that is asked for during an attempt", (database) => {
  let queue: TestQueue;
  before(async () => {
    queue = await createQueue(database);
  });
  after(() => queue.close());

  async function takeOne(): Promise<Claim> {
    await queue.db.run(makeDue, {});
    await queue.db.run(wakeAll, {});
    const { claims } = await claimDue(queue.db, { slots: 9, inFlight: new Map(), leaseMs: 60_000 });
    assert.equal(claims.length, 1);
    return claims[0] as Claim;
  }

  async function fail(claim: Claim, retryDelayMs: number | null): Promise<void> {
    const result = { statusCode: 500, error: "server_error", response: "" } as const;
    await finishAttempts(queue.db, Date.now(), [{ claim, result, durationMs: 1, retryDelayMs }]);
  }

  async function askAgain({ id, projectId }: Claim, url: string): Promise<void> {
    const endpointId = endpointIdOf(projectId, "live", url);
    const asked = { ids: JSON.stringify([id]), url, endpointId, retriesAllowed: 3 };
    assert.equal(await queue.db.run(requeueMessages, asked), 1);
  }

  it("follows once, with all its retries, where the worker dies and where the last attempt fails", async () => {
    const [url, moved] = ["https://hooks.example/", "https://moved.example/"];
    await queue.enqueue(await queue.createProject(), url);
    await fail(await takeOne(), 12_000);
    const interrupted = await takeOne();
    assert.deepEqual([interrupted.url, interrupted.retried], [url, 1]);
    await askAgain(interrupted, moved);
    await queue.db.run(expireLeases, {});
    assert.equal(await recoverLeases(queue.db, Date.now(), 12_000), 1);
    const anew = await takeOne();
    assert.deepEqual([anew.url, anew.retried, anew.attempt], [moved, 0, 3]);

    await askAgain(anew, moved);
    await askAgain(anew, moved);
    await fail(anew, null);
    const [message] = await queue.messages();
    assert.deepEqual([message?.state, message?.retried], ["ready", 0]);
    const [failure] = await queue.db.all(listFailures, {});
    assert.match(failure?.message ?? "", /Next attempt in 0 s/);
    await fail(await takeOne(), null);
    assert.equal((await queue.messages())[0]?.state, "dead");
    const leases = (await queue.db.all(listLeaseCounts, {})).map((endpoint) => endpoint.live_leases);
    assert.deepEqual(leases, [0], "each was counted and released at the same endpoint");
  });
});
