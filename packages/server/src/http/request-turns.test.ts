import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { it, type TestContext } from "node:test";
import { PIPELINED_MAX } from "@upstow/contract";
import { http } from "../kernel/net/node-http.ts";
import { createListener } from "./listener.ts";
import { handleInTurns } from "./request-turns.ts";

/** Sends requests in one packet, and returns what came until the connection ended. */
async function sendTogether(
  t: TestContext,
  server: ReturnType<typeof createListener>,
  count: number,
): Promise<string> {
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const requests = Array.from({ length: count }, (_, i) => {
    const connection = i === count - 1 ? "Connection: close\r\n" : "";
    return `GET /${i} HTTP/1.1\r\nHost: localhost\r\n${connection}\r\n`;
  });
  socket.write(requests.join(""));
  return text(socket).catch(() => "the connection was reset");
}

it("requests that arrive together are handled in several turns, in their order", async (t) => {
  let [turn, nowMs] = [0, 0];
  const countTurn = () => {
    turn++;
    immediate = setImmediate(countTurn);
  };
  let immediate = setImmediate(countTurn);
  t.after(() => clearImmediate(immediate));
  const handled: { url: string; turn: number }[] = [];
  const serve: RequestListener = ({ url = "" }, response) => {
    handled.push({ url, turn });
    nowMs += 10;
    response.end();
  };
  await sendTogether(t, http.createServer(handleInTurns(serve, () => nowMs)), 7);
  assert.deepEqual(
    handled.map(({ url }) => url),
    Array.from({ length: 7 }, (_, i) => `/${i}`),
  );
  const perTurn = Map.groupBy(handled, ({ turn }) => turn);
  assert.deepEqual(
    [...perTurn.values()].map(({ length }) => length),
    [2, 2, 2, 1],
  );
});

it("a connection may send a few requests ahead, and is closed for many", async (t) => {
  let handled = 0;
  const serve: RequestListener = (_request, response) => {
    handled++;
    setImmediate(() => response.end("answer"));
  };
  const few = await sendTogether(t, createListener(serve, null), PIPELINED_MAX + 1);
  assert.equal(few.match(/answer/g)?.length, PIPELINED_MAX + 1);
  handled = 0;
  const many = await sendTogether(t, createListener(serve, null), PIPELINED_MAX + 2);
  assert.doesNotMatch(many, /answer/);
  assert.ok(handled <= PIPELINED_MAX + 1, `${handled} handled`);
});
