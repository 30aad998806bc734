import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { redisMissing, startRedis } from "./redis.ts";

function openSocket(url: string) {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).setEncoding("utf8");
}

test("Redis answers, keeps nothing on disk, freezes, goes on and starts again", {
  skip: redisMissing,
}, async () => {
  const redis = await startRedis();
  const socket = openSocket(redis.url);
  socket.write("CONFIG GET save\r\n");
  assert.deepEqual(await once(socket, "data"), ["*2\r\n$4\r\nsave\r\n$0\r\n\r\n"]);

  const resume = redis.pause();
  socket.write("PING\r\n");
  const answer = once(socket, "data");
  const silence = AbortSignal.timeout(200);
  assert.equal(await Promise.race([answer, once(silence, "abort").then(() => "silence")]), "silence");
  resume();
  assert.deepEqual(await answer, ["+PONG\r\n"]);

  const closed = once(socket, "close");
  await redis.stop();
  await redis.stop();
  await closed;
  const refused = openSocket(redis.url);
  const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
  assert.equal(error.code, "ECONNREFUSED");

  await redis.restart();
  const again = openSocket(redis.url);
  again.write("PING\r\n");
  assert.deepEqual(await once(again, "data"), ["+PONG\r\n"]);
  again.destroy();
  await redis.stop();
});
