import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { pickFreePort } from "./free-port.ts";

test("a port that was picked is free for its server, and nobody else can pick it", async () => {
  const port = await pickFreePort();
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();

  const another = createSocket("udp4").bind({ port, address: "127.0.0.1", exclusive: true });
  const [error] = await once(another, "error");
  assert.equal(error.code, "EADDRINUSE");
  assert.ok(port < 32_768, "connections are given higher ones");
});
