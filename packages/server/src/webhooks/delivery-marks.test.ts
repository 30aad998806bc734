import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { beforeEach, it } from "node:test";
import { verifyDelivery } from "@upstow/sdk/webhooks";
import { decodeJwt } from "jose";
import { onAnyDatabase, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import { useDeliveries } from "../../test/support/webhooks/deliveries.ts";
import type { Received, Receiver } from "../../test/support/webhooks/receiver.ts";
import { completeUpload, openUpload, uploadFile } from "../../test/support/webhooks/upload.ts";

onAnyDatabase("what a delivery says of itself", (database) => {
  let app: TestApp;
  let receiver: Receiver;
  let tenant: Tenant;

  const { current, createRoute, waitForStatus } = useDeliveries(database);
  beforeEach(() => {
    ({ app, receiver, tenant } = current());
  });

  function marksOf(request: Received | undefined) {
    const { evt, env } = decodeJwt(request?.headers["delivery-signature"]?.toString() ?? "");
    const headers = ["event", "environment", "route"].map((name) => request?.headers[`delivery-${name}`]);
    return [evt, env, ...headers];
  }

  async function keysOf(key: string): Promise<{ current: string; next: string }> {
    return (await app.call("GET", "webhooks/signing-keys", { key })).body;
  }

  it("names event, environment and route, in every attempt and redelivery", async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    await createRoute("docs");
    await uploadFile(app, tenant.live, "docs");
    const [dead] = await waitForStatus("dead");
    receiver.answer = (_request, response) => void response.end();
    await app.call("POST", `webhooks/deliveries/${dead.id}/redeliver`, { key: tenant.live });
    await waitForStatus("delivered");
    assert.equal(receiver.received.length, 5);
    const expected = ["upload.completed", "live", "upload.completed", "live", "docs"];
    for (const request of receiver.received) assert.deepEqual(marksOf(request), expected);
  });

  it("tells test uploads on a route of both environments from live ones, to a receiver with all keys", async () => {
    await createRoute("docs");
    const [live, test] = [await keysOf(tenant.live), await keysOf(tenant.test)];
    for (const [key, environment] of [
      [tenant.live, "live"],
      [tenant.test, "test"],
    ] as const) {
      receiver.received = [];
      await uploadFile(app, key, "docs");
      await waitForStatus("delivered", 1, key);
      const [request] = receiver.received;
      assert.deepEqual(marksOf(request).slice(1), [environment, "upload.completed", environment, "docs"]);
      const verified = await verifyDelivery({
        body: request?.body ?? "",
        url: `${receiver.url}/docs`,
        headers: request?.headers as Record<string, string>,
        currentKey: live.current,
        nextKey: live.next,
        testCurrentKey: test.current,
        testNextKey: test.next,
      });
      assert.deepEqual([verified.event, verified.environment], ["upload.completed", environment]);
    }
  });

  it("marks test events inside what is signed", async () => {
    const route = await createRoute("docs");
    for (const [key, environment] of [
      [tenant.live, "live"],
      [tenant.test, "test"],
    ] as const) {
      receiver.received = [];
      await app.call("POST", `routers/${route.id}/test`, { key });
      const [request] = receiver.received;
      assert.deepEqual(marksOf(request), ["webhook.test", environment, "test", environment, "docs"]);
    }
  });

  it("names the route as it was called when the upload was completed", async () => {
    const route = await createRoute("before");
    const open = await openUpload(app, tenant.live, "before");
    const rename = (slug: string) =>
      app.call("PATCH", `routers/${route.id}`, { key: tenant.live, body: { slug } });
    await rename("between");
    await completeUpload(app, tenant.live, open);
    const [delivered] = await waitForStatus("delivered");
    await rename("after");
    await app.call("POST", `webhooks/deliveries/${delivered.id}/redeliver`, { key: tenant.live });
    await receiver.waitFor(2);
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers["delivery-route"]),
      ["between", "between"],
    );
    await waitForStatus("delivered");
  });

  it("reaches a receiver at an allowed address over plain HTTP, signed for that URL", async (t) => {
    const received: Received[] = [];
    const plain = createServer(async (request, response) => {
      received.push({ path: request.url ?? "", headers: request.headers, body: await buffer(request) });
      response.end();
    });
    t.after(() => plain.close().closeAllConnections());
    plain.listen(0, "127.0.0.1");
    await once(plain, "listening");
    const url = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/hook`;
    await createRoute("plain", url);
    await uploadFile(app, tenant.live, "plain");
    await waitForStatus("delivered");
    const [request] = received;
    const { current: currentKey, next: nextKey } = await keysOf(tenant.live);
    const headers = request?.headers as Record<string, string>;
    await verifyDelivery({ body: request?.body ?? "", url, headers, currentKey, nextKey });
  });
});
