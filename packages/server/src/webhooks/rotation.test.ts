import assert from "node:assert/strict";
import { it } from "node:test";
import { verifyDelivery } from "@upstow/sdk/webhooks";
import { Webhook } from "standardwebhooks";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { createQueue } from "../../test/support/webhooks/queue.ts";
import { until } from "../../test/support/webhooks/until.ts";
import type { OutgoingDelivery, Send } from "./send.ts";
import { getSigningKeys, rotateSigningKeys } from "./signing-keys.ts";

const url = "https://hooks.example/hook";
const rotation = { force: false, onRotated: async () => {} };

onAnyDatabase("a rotation of signing keys", (database) => {
  it("under load never fails a receiver that knows only the old pair", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const owner = { projectId: await queue.createProject(), environment: "live" as const };
    const old = await getSigningKeys(queue.deps, owner);
    const requests: OutgoingDelivery[] = [];
    const send: Send = async (request) => {
      requests.push(request);
      return { statusCode: 200, error: null, response: "" };
    };
    await queue.enqueue(owner.projectId, url, 200);
    const dispatcher = await queue.createInstance({ send });
    dispatcher.start();
    await until(async () => requests.length >= 40);
    const rotated = await rotateSigningKeys(queue.deps, owner, rotation);
    assert.equal(rotated.current, old.next);
    await assert.rejects(rotateSigningKeys(queue.deps, owner, rotation), { code: "VALIDATION_ERROR" });
    await until(async () => requests.length === 200);
    await dispatcher.close();

    const usedKeys = new Set<string>();
    for (const { body, headers } of requests) {
      const pair = { currentKey: old.current, nextKey: old.next };
      await verifyDelivery({ body, url, headers, ...pair });
      new Webhook(old.current).verify(Buffer.from(body).toString(), headers);
      const [head = ""] = (headers["delivery-signature"] ?? "").split(".");
      usedKeys.add(JSON.parse(Buffer.from(head, "base64url").toString()).kid);
    }
    assert.equal(usedKeys.size, 2);
  });

  it("lets one of two at once win", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const owner = { projectId: await queue.createProject(), environment: "live" as const };
    const old = await getSigningKeys(queue.deps, owner);
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => rotateSigningKeys(queue.deps, owner, rotation)),
    );
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await getSigningKeys(queue.deps, owner)).current, old.next);

    const { db } = queue.deps;
    const allHaveRead = Promise.withResolvers<void>();
    let readers = 0;
    const transact: typeof db.transact = async (...work) => {
      if (++readers === 3) allHaveRead.resolve();
      await allHaveRead.promise;
      return db.transact(...work);
    };
    const atOnce = { ...queue.deps, db: { ...db, transact } };
    const forced = await Promise.allSettled(
      [1, 2, 3].map(() => rotateSigningKeys(atOnce, owner, { ...rotation, force: true })),
    );
    const [won, ...others] = forced.filter((outcome) => outcome.status === "fulfilled");
    assert.deepEqual([won?.value, others], [await getSigningKeys(queue.deps, owner), []]);
    for (const outcome of forced) {
      if (outcome.status === "fulfilled") continue;
      assert.deepEqual([outcome.reason.code, outcome.reason.status], ["VALIDATION_ERROR", 409]);
      assert.match(outcome.reason.message, /another call/);
    }
  });

  it("drops the previous key from the Standard Webhooks signature after a day", async (t) => {
    const queue = await createQueue(database);
    t.after(() => queue.close());
    const owner = { projectId: await queue.createProject(), environment: "live" as const };
    let now = Date.now();
    const deps = { ...queue.deps, now: () => now };
    const old = await getSigningKeys(deps, owner);
    await rotateSigningKeys(deps, owner, rotation);
    const requests: OutgoingDelivery[] = [];
    const send: Send = async (request) => {
      requests.push(request);
      return { statusCode: 200, error: null, response: "" };
    };
    const dispatcher = await queue.createInstance({ send }, { now: deps.now });
    dispatcher.start();
    await queue.enqueue(owner.projectId, url);
    dispatcher.nudge();
    await until(async () => requests.length === 1);
    now += 24 * 3_600_000;
    await queue.enqueue(owner.projectId, url);
    dispatcher.nudge();
    await until(async () => requests.length === 2);
    await dispatcher.close();
    const signatures = requests.map(({ headers }) => headers["webhook-signature"]?.split(" ").length);
    assert.deepEqual(signatures, [2, 1]);
    const text = Buffer.from(requests[0]?.body ?? "").toString();
    new Webhook(old.current).verify(text, requests[0]?.headers ?? {});
  });
});
