import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { DatabaseKind } from "../start-app.ts";
import { createNetwork } from "./network.ts";
import { createQueue } from "./queue.ts";
import { until } from "./until.ts";

const projects = 8;
const endpoints = 10;

/** Four instances send what waits for 80 endpoints, and every message is sent once. */
export async function loadFourInstances(
  t: TestContext,
  database: DatabaseKind,
  perEndpoint: number,
): Promise<void> {
  const total = projects * endpoints * perEndpoint;
  const own = await createQueue(database);
  t.after(() => own.close());
  const { sent, send } = createNetwork();
  const projectIds = await Promise.all(Array.from({ length: projects }, () => own.createProject()));
  await Promise.all(
    projectIds.map(async (projectId, p) => {
      for (let e = 0; e < endpoints; e++) {
        await own.enqueue(projectId, `https://hooks.example/${p}/${e}`, perEndpoint);
      }
    }),
  );
  const instances = await Promise.all([1, 2, 3, 4].map(() => own.createInstance({ send, slots: 32 })));
  for (const instance of instances) instance.start();
  await until(async () => sent.length >= total);
  await Promise.all(instances.map((instance) => instance.close()));
  const messages = await own.messages();
  assert.equal(messages.length, total);
  assert.ok(messages.every((message) => message.state === "delivered" && message.attempt_count === 1));
  assert.equal(sent.length, total);
  assert.equal(new Set(sent.map(({ messageId }) => messageId)).size, total);
  assert.deepEqual(new Set(sent.map(({ attempt }) => attempt)), new Set(["1"]));
}
