import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, it } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { openSocket, requestHead } from "../../test/support/raw-http.ts";
import { sendStream } from "./send-stream.ts";

const lengthBytes = 10;
let app: FastifyInstance;
let url: string;
let chunks: string[];
let countedBytes: number;

before(async () => {
  app = Fastify();
  app.get("/", async (_, reply) => {
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
    countedBytes = 0;
    reply.header("content-length", lengthBytes);
    await sendStream(reply, stream, lengthBytes, (count) => {
      countedBytes += count;
    });
    return reply;
  });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
});
after(() => app.close());

/** The body of the answer and all that follows it on a connection that lives on, until the service closes it. */
async function readConnection(): Promise<string> {
  const socket = await openSocket(url);
  socket.write(requestHead("GET", "/"));
  const received = await text(socket);
  return received.slice(received.indexOf("\r\n\r\n") + 4);
}

it("sends nothing beyond the declared length, and cuts the connection", async () => {
  chunks = ["12345", "67890HTTP/1.1 200 OK\r\n\r\n"];
  assert.equal(await readConnection(), "12345");
  assert.equal(countedBytes, 5);
  chunks = ["12345", "67890", "HTTP/1.1 200 OK\r\n\r\n"];
  assert.equal(await readConnection(), "1234567890");
});

it("cuts the connection at once where the stream ends short", async () => {
  chunks = ["12345"];
  assert.equal(await readConnection(), "12345");
});

it("keeps the connection of a stream that is as long as declared", async () => {
  chunks = ["12345", "67890"];
  const socket = await openSocket(url);
  for (let round = 0; round < 2; round++) {
    socket.write(requestHead("GET", "/"));
    let received = "";
    while (!received.endsWith("1234567890")) received += (await once(socket, "data")).join("");
  }
  socket.destroy();
});
