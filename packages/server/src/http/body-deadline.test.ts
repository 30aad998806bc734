import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { it } from "node:test";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Fastify, { type FastifyInstance } from "fastify";
import { limitBodyTime } from "./body-deadline.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

async function connectTo(http: FastifyInstance): Promise<Socket> {
  await http.listen({ host: "127.0.0.1", port: 0 });
  const client = connect((http.server.address() as AddressInfo).port, "127.0.0.1");
  await once(client, "connect");
  return client;
}

const head = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`;

it("keeps no connection that was lost before anybody asked for its body", async (t) => {
  const asked = Promise.withResolvers<WeakRef<Socket>>();
  const lost = Promise.withResolvers<void>();
  const http = Fastify({ forceCloseConnections: true });
  t.after(() => http.close());
  limitBodyTime(http);
  // As where the key is looked up in a database that takes its time.
  http.addHook("onRequest", ({ raw: { socket } }, _reply, done) => {
    asked.resolve(new WeakRef(socket));
    socket.once("close", () => {
      done();
      lost.resolve();
    });
  });
  http.post("/", async () => ({}));
  const client = await connectTo(http);
  client.write(`${head("/")}{`);
  const connection = await asked.promise;
  client.resetAndDestroy();
  await lost.promise;
  for (let turn = 0; turn < 100 && connection.deref() !== undefined; turn++) {
    await nextTurn();
    collectGarbage();
  }
  assert.ok(connection.deref() === undefined);
});

it("cuts a slow body that came behind a request which was let in later", { timeout: 20_000 }, async (t) => {
  const secondIsRead = Promise.withResolvers<void>();
  const http = Fastify({ forceCloseConnections: true });
  t.after(() => http.close());
  limitBodyTime(http, 60);
  http.post("/first", { onRequest: () => secondIsRead.promise }, async () => ({}));
  const preParsing = async () => secondIsRead.resolve();
  http.post("/second", { preParsing }, async () => ({}));
  const client = await connectTo(http);
  client.write(`${head("/first")}{}${head("/second")}{`);
  const statusLines = (await text(client)).match(/HTTP\/1.1 \d+/g);
  assert.deepEqual(statusLines, ["HTTP/1.1 200", "HTTP/1.1 408"]);
});

it("does not count the time in which the service does not read the body", { timeout: 20_000 }, async (t) => {
  const http = Fastify({ forceCloseConnections: true });
  t.after(() => http.close());
  limitBodyTime(http, 60);
  http.post("/", { preParsing: () => sleep(300) }, async () => ({}));
  const client = await connectTo(http);
  // Sent at once: from there on, only the service takes its time.
  client.write(`${head("/").replace("Host: a", "Host: a\r\nConnection: close")}{}`);
  assert.match(await text(client), /^HTTP\/1.1 200/);
});
