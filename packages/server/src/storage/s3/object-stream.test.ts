import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { finished } from "node:stream/promises";
import { after, before, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createObjectStream } from "./reads.ts";

const body = randomBytes(2_000_000);
const idleMs = 150;
const pauseMs = 10_000;
const giveUpMs = 10_000;
let server: Server;
/** How many bytes the server sends from `?skip=` on before it falls silent. */
let sendsBytes = body.length;

before(async () => {
  server = createServer((request, response) => {
    const skip = Number(new URL(request.url ?? "", "http://host").searchParams.get("skip"));
    response.writeHead(200, { "content-length": body.length - skip });
    response.write(body.subarray(skip, skip + sendsBytes));
    if (skip + sendsBytes >= body.length) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function open(skip: number): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    get(`http://127.0.0.1:${port}/?skip=${skip}`, { agent: false }, resolve).on("error", reject);
  });
}

async function createStream(maxReopens: number, settings: { pauseMs?: number } = {}) {
  const reopened: number[] = [];
  const first = await open(0);
  const stream = createObjectStream({
    first,
    lengthBytes: body.length,
    reopen: (skip) => {
      reopened.push(skip);
      return open(skip);
    },
    maxReopens,
    idleMs,
    giveUpMs,
    pauseMs,
    ...settings,
  });
  return { first, stream, reopened };
}

it("waits for a slow reader as long as it takes", async () => {
  sendsBytes = body.length;
  const { stream, reopened } = await createStream(0);
  await sleep(idleMs * 3);
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    if (chunks.length % 10 === 0) await sleep(idleMs / 10);
    chunks.push(chunk);
  }
  assert.ok(Buffer.concat(chunks).equals(body));
  assert.deepEqual(reopened, []);
});

it("gives the connection back while nobody reads, and goes on where it was", {
  timeout: 10_000,
}, async () => {
  sendsBytes = body.length;
  const { first, stream, reopened } = await createStream(0, { pauseMs: 20 });
  await once(first, "close");
  assert.deepEqual(reopened, []);
  assert.ok(Buffer.concat(await stream.toArray()).equals(body));
  assert.equal(reopened.length, 1);

  // The last bytes wait in the stream: there is nothing to ask for.
  const small = await open(body.length - 100_000);
  const rest = createObjectStream({
    first: small,
    lengthBytes: 100_000,
    reopen: () => assert.fail("asked again"),
    maxReopens: 0,
    idleMs,
    giveUpMs,
    pauseMs: 20,
  });
  await once(small, "close");
  assert.ok(Buffer.concat(await rest.toArray()).equals(body.subarray(-100_000)));
});

it("does not wait for a store that fell silent, also after the reader was slow", async () => {
  sendsBytes = 900_000;
  const { stream, reopened } = await createStream(2);
  await sleep(idleMs * 2);
  assert.ok(Buffer.concat(await stream.toArray()).equals(body));
  assert.deepEqual(reopened, [900_000, 1_800_000]);
});

it("fails where the store falls silent once too often", async () => {
  sendsBytes = 500_000;
  const { stream } = await createStream(2);
  await assert.rejects(stream.toArray(), /stopped sending/);
});

it("passes on nothing beyond the length, and fails", async () => {
  sendsBytes = body.length;
  const [first, lengthBytes] = [await open(0), 100_000];
  const stream = createObjectStream({
    first,
    lengthBytes,
    reopen: open,
    maxReopens: 2,
    idleMs,
    giveUpMs,
    pauseMs,
  });
  let readBytes = 0;
  stream.on("data", (chunk: Buffer) => {
    readBytes += chunk.length;
  });
  await assert.rejects(finished(stream), /more bytes/);
  assert.ok(readBytes <= lengthBytes, `${readBytes} bytes`);
  assert.ok(first.destroyed);
});

it("lets go of the connection when nobody reads on", async () => {
  sendsBytes = body.length;
  const first = await open(0);
  const stream = createObjectStream({
    first,
    lengthBytes: body.length,
    reopen: open,
    maxReopens: 2,
    idleMs,
    giveUpMs,
    pauseMs,
  });
  const closed = new Promise((resolve) => first.once("close", resolve));
  stream.destroy();
  await closed;
  assert.equal(stream.readableEnded, false);
});
