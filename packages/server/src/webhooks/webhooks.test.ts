import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { verifyDelivery } from "@upstow/sdk/webhooks";
import { jwtVerify } from "jose";
import { onBothDatabases, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import { useDeliveries } from "../../test/support/webhooks/deliveries.ts";
import type { Receiver } from "../../test/support/webhooks/receiver.ts";
import { completeUpload, openUpload, uploadFile } from "../../test/support/webhooks/upload.ts";

onBothDatabases("webhooks over the API", (database) => {
  let app: TestApp;
  let receiver: Receiver;
  let tenant: Tenant;

  const { current, createRoute, listDeliveries, waitForStatus } = useDeliveries(database);
  beforeEach(() => {
    ({ app, receiver, tenant } = current());
  });

  it("delivers a completed upload, signed, and shows it", async () => {
    await createRoute("docs");
    const file = await uploadFile(app, tenant.live, "docs", { colour: "blau", n: 1.5 });
    const [delivery] = await waitForStatus("delivered");
    const [request] = receiver.received;
    assert.ok(request);
    const { currentKey, nextKey } = await getKeys(tenant.live);
    const verified = await verifyDelivery({
      body: request.body,
      url: `${receiver.url}/docs`,
      headers: request.headers as Record<string, string>,
      currentKey,
      nextKey,
    });
    assert.equal(verified.messageId, delivery.messageId);
    assert.equal(request.headers["delivery-event"], "upload.completed");
    assert.equal(request.headers["delivery-attempt"], "1");
    assert.equal(request.headers["delivery-retried"], "0");
    assert.equal(request.headers["content-type"], "application/json");

    const body = JSON.parse(request.body.toString());
    assert.deepEqual(Object.keys(body), ["file", "projectId"]);
    assert.deepEqual(Object.keys(body.file), ["id", "key", "name", "size", "type", "url", "metadata"]);
    assert.deepEqual(body.file.metadata, { colour: "blau", n: 1.5 });
    assert.equal(body.projectId, tenant.projectId);

    assert.deepEqual(Object.keys(delivery), [
      "id",
      "messageId",
      "event",
      "fileId",
      "routeSlug",
      "url",
      "status",
      "attemptCount",
      "nextAttemptAt",
      "createdAt",
    ]);
    assert.equal(delivery.fileId, file.id);
    assert.equal(delivery.url, `${receiver.url}/docs`);
    const single = await app.call("GET", `webhooks/deliveries/${delivery.id}`, { key: tenant.live });
    assert.deepEqual(single.body.delivery.payload, body);
    const [attempt] = single.body.delivery.attempts;
    assert.deepEqual(Object.keys(attempt), ["number", "at", "durationMs", "statusCode", "error", "response"]);
    assert.deepEqual(
      [attempt.number, attempt.statusCode, attempt.error, attempt.response],
      [1, 200, null, "ok"],
    );
    const logs = await app.call("GET", "logs?type=webhook.delivered", { key: tenant.live });
    assert.equal(logs.body.logs[0].fileId, file.id);
    assert.equal(logs.body.logs[0].data.deliveryId, delivery.id);
  });

  it("wakes the dispatcher for an upload whose event is sent, and tells only listeners of another", async (t) => {
    const { dispatcher } = app.app.deps;
    const nudge = t.mock.method(dispatcher, "nudge");
    const announce = t.mock.method(dispatcher, "announce");
    const counts = () => [nudge.mock.callCount(), announce.mock.callCount()];
    await createRoute("sent");
    await uploadFile(app, tenant.live, "sent");
    assert.deepEqual(counts(), [1, 0]);
    await uploadFile(app, tenant.live, "default");
    assert.deepEqual(counts(), [1, 1]);
    await waitForStatus("delivered");
  });

  it("signs the URL as it was given, so that receivers need not know how URLs are spelled", async () => {
    for (const [slug, given, signed] of [
      ["bare", receiver.url, receiver.url],
      ["spelled", `${receiver.url}/ä?a=1#part`, `${receiver.url}/ä?a=1`],
    ] as const) {
      await createRoute(slug, given);
      receiver.received = [];
      await uploadFile(app, tenant.live, slug);
      await receiver.waitFor(1);
      const [request] = receiver.received;
      const token = request?.headers["delivery-signature"]?.toString() ?? "";
      const { currentKey, nextKey } = await getKeys(tenant.live);
      await jwtVerify(token, Buffer.from(currentKey), { subject: signed, issuer: "upstow" });
      const headers = request?.headers as Record<string, string>;
      await verifyDelivery({ body: request?.body ?? "", url: given, headers, currentKey, nextKey });
    }
  });

  async function getKeys(key: string) {
    const { body } = await app.call("GET", "webhooks/signing-keys", { key });
    return { currentKey: body.current, nextKey: body.next };
  }

  it("gives up after four attempts, then redelivers with the same id and fresh retries", async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end("broken");
    await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    const [dead] = await waitForStatus("dead");
    assert.equal(dead.attemptCount, 4);
    assert.equal(dead.nextAttemptAt, null);
    assert.deepEqual(
      receiver.received.map(({ headers }) => [headers["delivery-attempt"], headers["delivery-retried"]]),
      [
        ["1", "0"],
        ["2", "1"],
        ["3", "2"],
        ["4", "3"],
      ],
    );
    assert.equal(new Set(receiver.received.map(({ headers }) => headers["delivery-message-id"])).size, 1);
    const failed = await app.call("GET", "logs?type=webhook.failed", { key: tenant.live });
    assert.equal(failed.body.logs.length, 4);
    assert.match(failed.body.logs[0].message, /server_error, status 500\)\. No retries left/);

    receiver.answer = (_request, response) => void response.end();
    const redelivered = await app.call("POST", `webhooks/deliveries/${dead.id}/redeliver`, {
      key: tenant.live,
    });
    assert.equal(redelivered.status, 200);
    assert.equal(redelivered.body.delivery.id, dead.id);
    const [delivered] = await waitForStatus("delivered");
    assert.equal(delivered.id, dead.id);
    assert.equal(delivered.attemptCount, 5);
    const last = receiver.received.at(-1);
    assert.equal(last?.headers["delivery-message-id"], dead.messageId);
    assert.equal(last?.headers["delivery-attempt"], "5");
    assert.equal(last?.headers["delivery-retried"], "0");
  });

  it("sends nothing of an environment to a route that is the other's, though it has the slug now", async () => {
    const route = await createRoute("avatars");
    await uploadFile(app, tenant.live, "avatars");
    const [first] = await waitForStatus("delivered");
    const open = await openUpload(app, tenant.live, "avatars");
    await app.call("DELETE", `routers/${route.id}`, { key: tenant.live });
    const taken = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.test,
      body: { slug: "avatars", environment: "test", webhookUrl: `${receiver.url}/taken` },
    });
    assert.equal(taken.status, 201);

    const one = await app.call("POST", `webhooks/deliveries/${first.id}/redeliver`, { key: tenant.live });
    assert.equal(one.body.delivery.url, first.url);
    await receiver.waitFor(2);
    await waitForStatus("delivered");
    const body = { filter: { routeSlug: "avatars" } };
    await app.call("POST", "webhooks/deliveries/redeliver", { key: tenant.live, body });
    await receiver.waitFor(3);
    await waitForStatus("delivered");
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/avatars", "/avatars", "/avatars"],
    );
    await completeUpload(app, tenant.live, open);
    assert.equal((await listDeliveries()).length, 1, "no route, no webhook");
    await uploadFile(app, tenant.test, "avatars");
    await waitForStatus("delivered", 1, tenant.test);
    assert.equal(receiver.received.at(-1)?.path, "/taken");
  });

  it("sends the event of an upload that was open to the route it was made on, under its new slug", async () => {
    const route = await createRoute("before");
    const neighbour = await app.createTenant("pro");
    await app.call("POST", `projects/${neighbour.projectId}/routers`, {
      key: neighbour.live,
      body: { slug: "before", webhookUrl: `${receiver.url}/neighbour` },
    });
    const done = await uploadFile(app, tenant.live, "before");
    const open = await openUpload(app, tenant.live, "before");
    const foreign = await openUpload(app, neighbour.live, "before");
    const renamed = await app.call("PATCH", `routers/${route.id}`, {
      key: tenant.live,
      body: { slug: "after" },
    });
    assert.equal(renamed.status, 200);
    const file = await completeUpload(app, tenant.live, open);
    assert.match(file.key, /\/before\//, "its place in storage stays");
    const [second, first] = await listDeliveries();
    assert.deepEqual(
      [second.fileId, second.routeSlug, second.url],
      [open, "after", `${receiver.url}/before`],
    );
    assert.deepEqual([first.fileId, first.routeSlug], [done.id, "before"]);
    await completeUpload(app, neighbour.live, foreign);
    const [untouched] = await listDeliveries("", neighbour.live);
    assert.deepEqual([untouched.routeSlug, untouched.url], ["before", `${receiver.url}/neighbour`]);
  });

  it("moves no upload of the other environment when a route of one is renamed", async () => {
    const route = await createRoute("docs");
    const open = await openUpload(app, tenant.live, "docs");
    await app.call("DELETE", `routers/${route.id}`, { key: tenant.live });
    const taken = await app.call("POST", `projects/${tenant.projectId}/routers`, {
      key: tenant.test,
      body: { slug: "docs", environment: "test" },
    });
    const ofTest = await openUpload(app, tenant.test, "docs");
    const { router } = taken.body;
    const body = { slug: "moved", webhookUrl: `${receiver.url}/moved` };
    assert.equal((await app.call("PATCH", `routers/${router.id}`, { key: tenant.test, body })).status, 200);
    await createRoute("docs");
    await completeUpload(app, tenant.live, open);
    await completeUpload(app, tenant.test, ofTest);
    const [live] = await listDeliveries();
    assert.deepEqual([live.routeSlug, live.url], ["docs", `${receiver.url}/docs`]);
    const [test] = await listDeliveries("", tenant.test);
    assert.deepEqual([test.routeSlug, test.url], ["moved", `${receiver.url}/moved`]);
  });

  it("lists by status, route, file and time, page by page, each environment for itself", async () => {
    await createRoute("one");
    await createRoute("two");
    await createRoute("quiet", null);
    const files = [];
    for (const slug of ["one", "two", "one", "quiet"]) files.push(await uploadFile(app, tenant.live, slug));
    await uploadFile(app, tenant.test, "one");
    await waitForStatus("delivered", 3);
    await waitForStatus("delivered", 1, tenant.test);
    const all = await listDeliveries();
    assert.deepEqual(
      all.map((delivery: { fileId: string }) => delivery.fileId),
      [files[2]?.id, files[1]?.id, files[0]?.id],
    );
    assert.equal((await listDeliveries("?routeSlug=one")).length, 2);
    assert.equal((await listDeliveries(`?fileId=${files[1]?.id}`)).length, 1);
    assert.equal((await listDeliveries(`?fileId=${files[1]?.id}&status=dead`)).length, 0);
    assert.equal((await listDeliveries(`?fileId=${files[1]?.id}`, tenant.test)).length, 0);
    assert.equal((await listDeliveries(`?until=${encodeURIComponent(all[1].createdAt)}`)).length, 2);
    assert.equal((await listDeliveries(`?since=${encodeURIComponent(all[1].createdAt)}`)).length, 2);
    const first = await app.call("GET", "webhooks/deliveries?limit=2", { key: tenant.live });
    assert.equal(first.body.hasMore, true);
    const second = await app.call("GET", `webhooks/deliveries?limit=2&cursor=${first.body.nextCursor}`, {
      key: tenant.live,
    });
    assert.deepEqual([...first.body.deliveries, ...second.body.deliveries], all);
    assert.equal(second.body.hasMore, false);
    assert.equal(second.body.nextCursor, null);
    for (const query of [
      "?status=lost",
      "?since=yesterday",
      "?until=2016-12-31T23:59:60Z",
      "?limit=0",
      "?cursor=xx",
    ]) {
      const refused = await app.call("GET", `webhooks/deliveries${query}`, { key: tenant.live });
      assert.equal(refused.body.error.code, "VALIDATION_ERROR", query);
    }
  });

  it("sends a test event once, at once, and shows the outcome", async () => {
    const route = await createRoute("docs");
    const sent = await app.call("POST", `routers/${route.id}/test`, { key: tenant.live });
    assert.equal(sent.status, 200);
    assert.equal(sent.body.delivery.status, "delivered");
    assert.equal(sent.body.delivery.event, "test");
    assert.equal(sent.body.delivery.attempts[0].statusCode, 200);
    const [request] = receiver.received;
    assert.equal(request?.headers["delivery-event"], "test");
    assert.deepEqual(JSON.parse(request?.body.toString() ?? ""), sent.body.delivery.payload);

    receiver.answer = (_request, response) => void response.writeHead(404).end("no such hook");
    const failed = await app.call("POST", `routers/${route.id}/test`, { key: tenant.live });
    assert.equal(failed.body.delivery.status, "dead");
    assert.equal(failed.body.delivery.attempts[0].error, "client_error");
    assert.equal(failed.body.delivery.attempts[0].response, "no such hook");
    assert.equal(receiver.received.length, 2);

    const quiet = await createRoute("quiet", null);
    const refused = await app.call("POST", `routers/${quiet.id}/test`, { key: tenant.live });
    assert.equal(refused.body.error.code, "VALIDATION_ERROR");
    const stranger = await app.createTenant("pro");
    const foreign = await app.call("POST", `routers/${route.id}/test`, { key: stranger.live });
    assert.equal(foreign.status, 404);
  });

  it("rotates keys once a day, shows none twice, and keeps environments and projects apart", async () => {
    const before = (await app.call("GET", "webhooks/signing-keys", { key: tenant.live })).body;
    assert.match(before.current, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const rotate = (options: object) =>
      app.call("POST", "webhooks/signing-keys/rotate", { key: tenant.live, ...options });
    const idempotent = { headers: { "idempotency-key": "once" } };
    const rotated = await rotate(idempotent);
    assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
    assert.equal(rotated.body.current, before.next);
    assert.notEqual(rotated.body.next, before.next);
    const replayed = await rotate(idempotent);
    assert.equal(replayed.headers.get("idempotency-replayed"), "true");
    assert.deepEqual(replayed.body, rotated.body);
    assert.equal((await rotate({})).body.error.code, "VALIDATION_ERROR");
    assert.equal((await rotate({ body: {} })).body.error.code, "VALIDATION_ERROR");
    assert.equal((await rotate({ body: { force: "yes" } })).body.error.code, "VALIDATION_ERROR");
    const forced = await rotate({ body: { force: true } });
    assert.equal(forced.body.current, rotated.body.next);
    app.clock.advance(24 * 3_600_000 + 1);
    assert.equal((await rotate({})).body.current, forced.body.next);

    const other = await app.createTenant("pro");
    const all = await Promise.all(
      [tenant.live, tenant.test, other.live, other.test].map(async (key) => (await getKeys(key)).currentKey),
    );
    assert.equal(new Set(all).size, 4);
  });
});
