import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import type { DeliveryErrorClass } from "@upstow/contract";
import { decodeJwt } from "jose";
import { onAnyDatabase, type Tenant, type TestApp } from "../../test/support/start-app.ts";
import {
  createUploadClient,
  partPieces,
  put,
  putParts,
  smallBody,
  type UploadClient,
} from "../../test/support/upload-client.ts";
import { useDeliveries } from "../../test/support/webhooks/deliveries.ts";
import { createNetwork } from "../../test/support/webhooks/network.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import type { Receiver } from "../../test/support/webhooks/receiver.ts";
import { until } from "../../test/support/webhooks/until.ts";
import { statement } from "../db/statement.ts";
import type { SendResult } from "./send.ts";

const makeDue = statement((q, _: object) => q.updateTable("webhook_message").set({ run_at: 1 }));
const wakeAll = statement((q, _: object) => q.updateTable("webhook_endpoint").set({ next_run_at: 1 }));

onAnyDatabase("events as the contract states them", (database) => {
  let app: TestApp;
  let receiver: Receiver;
  let tenant: Tenant;
  let client: UploadClient;
  const { current, createRoute, listDeliveries, waitForStatus } = useDeliveries(database);
  beforeEach(() => {
    ({ app, receiver, tenant } = current());
    client = createUploadClient(app, tenant.live);
  });
  const received = () => receiver.received.map(({ body }) => JSON.parse(body.toString()));

  it("are sent once the file is UPLOADED and served, not before", async () => {
    await createRoute("docs");
    const seen: unknown[] = [];
    receiver.answer = async ({ body }, response) => {
      const { file } = JSON.parse(body.toString());
      const shown = await client.get(file.key);
      const served = await fetch(file.url);
      seen.push([shown.body.file.status, served.status, await served.text()]);
      response.end();
    };
    const upload = await client.request({ routeSlug: "docs" });
    assert.equal((await client.complete(upload.fileId)).status, 422);
    await put(upload.uploadUrl, smallBody);
    assert.deepEqual(await listDeliveries(), [], "neither a PUT nor a failed completion is an event");
    assert.equal((await client.complete(upload.fileId)).status, 200);
    assert.equal((await client.complete(upload.fileId)).status, 404);
    await waitForStatus("delivered");
    assert.deepEqual(seen, [["UPLOADED", 200, smallBody.toString()]]);
  });

  it("come from both flows, with the metadata that is stored after completion", async () => {
    await createRoute("docs");
    const metadata = { from: "request" };
    for (const given of [undefined, { from: "completion" }]) {
      receiver.received = [];
      const single = await client.request({ routeSlug: "docs", metadata });
      await put(single.uploadUrl, smallBody);
      const first = (await client.complete(single.fileId, given)).body.file;
      await receiver.waitFor(1);
      const inParts = await client.init({ routeSlug: "docs", metadata });
      const parts = await putParts(inParts, partPieces());
      const second = (await client.completeParts(inParts, parts, given)).body.file;
      await receiver.waitFor(2);
      assert.deepEqual(
        received(),
        [first, second].map(({ id, key, name, size, type, url }) => ({
          file: { id, key, name, size, type, url, metadata: given ?? metadata },
          projectId: tenant.projectId,
        })),
      );
    }
  });

  it("signs every attempt afresh", async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    await createRoute("docs");
    await client.upload(smallBody, { routeSlug: "docs" });
    await waitForStatus("dead");
    const tokens = receiver.received.map(({ headers }) => decodeJwt(String(headers["delivery-signature"])));
    assert.deepEqual(
      tokens.map(({ att }) => att),
      [1, 2, 3, 4],
    );
    assert.equal(new Set(tokens.map(({ jti }) => jti)).size, 4);
    assert.equal(new Set(tokens.map(({ msg }) => msg)).size, 1);
    for (const { iat = 0, nbf, exp, sub, iss } of tokens)
      assert.deepEqual([nbf, exp, sub, iss], [iat, iat + 300, `${receiver.url}/docs`, "upstow"]);
  });

  it("go to the route that was used, and nowhere where it has no webhook", async () => {
    await createRoute("one");
    await createRoute("two");
    await client.upload(smallBody, { routeSlug: "two" });
    await client.upload(smallBody, { routeSlug: "default" });
    await waitForStatus("delivered");
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/two"],
    );
  });
});

onAnyDatabase("a delivery that fails", (database) => {
  it("is retried three times whatever the failure, and never again by itself", async (t) => {
    const failures: (DeliveryErrorClass | number)[] = [
      ...(["timeout", "dns", "refused", "reset", "tls", "blocked", "invalid_response"] as const),
      ...[301, 400, 401, 404, 410, 500, 503],
    ];
    const queue = await createQueue(database);
    t.after(() => queue.close());
    for (const failure of failures)
      await queue.enqueue(await queue.createProject(), `https://${failure}.example/`);
    const { sent, send } = createNetwork(async ({ url }): Promise<SendResult> => {
      const [failure = ""] = url.hostname.split(".");
      const status = Number(failure);
      if (Number.isNaN(status))
        return { statusCode: null, error: failure as DeliveryErrorClass, response: null };
      return { statusCode: status, error: "server_error", response: "" };
    });
    const dispatcher = await queue.createInstance({ send });
    dispatcher.start();
    const again = async () => {
      await queue.db.run(makeDue, {});
      await queue.db.run(wakeAll, {});
      dispatcher.nudge();
    };
    for (const retried of [1, 2, 3]) {
      await until(async () => (await queue.messages()).every((message) => message.retried === retried));
      await again();
    }
    await until(async () => (await queue.messages()).every((message) => message.state === "dead"));
    assert.equal(sent.length, 4 * failures.length);
    await again();
    await queue.enqueue(await queue.createProject(), "https://500.example/later");
    dispatcher.nudge();
    await until(async () => sent.length === 4 * failures.length + 1);
    await dispatcher.close();
    assert.equal(sent.length, 4 * failures.length + 1, "dead letters are left alone");
  });
});
