import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { it } from "node:test";
import { startFaultProxy } from "./fault-proxy.ts";

const kib = 1024;

it("cuts a body whose server has responded and closed before its end", { timeout: 20_000 }, async (t) => {
  const body = Buffer.alloc(200 * kib);
  const server = createServer((_request, response) => {
    response.writeHead(409, { connection: "close" }).end("too early");
    // Reaches the proxy together with the response, which ends the connection that these bytes are meant for.
    client.write(body.subarray(kib));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxy = await startFaultProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  proxy.setFaults(() => ({ kind: "cut-body", afterBytes: 64 * kib }));
  const client = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  t.after(async () => {
    client.destroy();
    await proxy.close();
    server.close();
  });
  client.write(`PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
  client.write(body.subarray(0, kib));
  const [error] = await once(client, "error");
  assert.equal(error.code, "ECONNRESET");
});
