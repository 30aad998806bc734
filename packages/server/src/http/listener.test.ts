import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { it } from "node:test";
import { createListener } from "./listener.ts";

it("a shutdown ends connections whose last answer had begun before it", { timeout: 30_000 }, async () => {
  const begun = Promise.withResolvers<ServerResponse>();
  const server = createListener((_request, response) => {
    response.write("first ");
    begun.resolve(response);
  }, null);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const agent = new Agent({ keepAlive: true });
  const { port } = server.address() as AddressInfo;
  const [answer] = (await once(get({ host: "127.0.0.1", port, agent }), "response")) as [IncomingMessage];
  assert.equal(answer.headers.connection, "keep-alive");
  const response = await begun.promise;
  const closed = once(server, "close");
  server.close();
  response.end("last");
  assert.equal(await text(answer), "first last");
  await closed;
  agent.destroy();
});
