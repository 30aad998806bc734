import assert from "node:assert/strict";
import { connect } from "node:net";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import Fastify from "fastify";
import { Registry } from "prom-client";
import { trackRequests } from "./access-log.ts";

it("knows a request until it has ended, also if its client hung up", async (t) => {
  const app = Fastify();
  t.after(() => app.close());
  const running = trackRequests(app, new Registry());
  const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
  app.get("/slow/:id", async () => {
    await work;
    return "done";
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  const names = () => running.list().map(({ name }) => name);

  assert.equal(
    (await fetch(`http://127.0.0.1:${port}/nowhere?token=secret`, { headers: { connection: "close" } }))
      .status,
    404,
  );
  assert.deepEqual(names(), ["GET of an unknown path"], "it ended, but since the last beat");
  running.forgetFinished();
  assert.deepEqual(names(), []);

  const socket = connect(port, "127.0.0.1");
  socket.write("GET /slow/1?token=secret HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (names().length === 0) await wait(5);
  socket.destroy();
  while ((await countConnections()) > 0) await wait(5);
  running.forgetFinished();
  assert.deepEqual(names(), ["GET /slow/:id"]);
  endWork();
  while (names().length > 0) {
    await wait(5);
    running.forgetFinished();
  }

  function countConnections(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    app.server.getConnections((_error, count) => resolve(count));
    return promise;
  }
});
