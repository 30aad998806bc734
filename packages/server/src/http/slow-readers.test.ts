import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, before, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { PIPELINED_MAX } from "@upstow/contract";
import { createSelfSigned } from "../../test/support/self-signed.ts";
import { createSlowReaderWatch } from "./connections.ts";
import { createListener, type TlsFiles } from "./listener.ts";

const windowMs = 2000;
const mebibyte = Buffer.alloc(1024 * 1024, "m");
const head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** As much as the client takes, far more than the kernel's buffers hold. */
const sendMuch: RequestListener = (_request, response) => {
  let left = 200;
  const next = () => {
    if (left-- > 0 && !response.destroyed) response.write(mebibyte, next);
  };
  next();
};

interface Bed {
  port: number;
  cuts: () => number;
  /** Of the server. */
  sockets: Socket[];
}

async function serve(t: TestContext, handler: RequestListener, tls: TlsFiles | null = null): Promise<Bed> {
  let cuts = 0;
  const sockets: Socket[] = [];
  const watch = createSlowReaderWatch({ leastBytesPerSec: 1024, windowMs, onCut: () => cuts++ });
  const server = createListener(handler, tls, (socket) => {
    sockets.push(socket);
    watch.watch(socket);
    return true;
  });
  t.after(() => {
    watch.close();
    server.close();
    server.closeAllConnections();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, cuts: () => cuts, sockets };
}

function open(t: TestContext, { port }: Bed): Socket {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  t.after(() => client.destroy());
  return client;
}

async function untilCut({ sockets }: Bed): Promise<void> {
  while (!sockets[0]?.destroyed) await sleep(20);
}

// All at once: each has a server of its own, and waits for its windows.
describe("a connection", { timeout: 60_000, concurrency: true }, () => {
  let tls: TlsFiles;
  before(async () => {
    const files = await createSelfSigned();
    tls = { cert: files.cert, key: await readFile(files.keyPath, "utf8") };
    after(() => files.remove());
  });

  it("whose client reads nothing is cut, and the response hears of it", async (t) => {
    const closed = Promise.withResolvers<void>();
    const bed = await serve(t, (request, response) => {
      response.once("close", closed.resolve);
      sendMuch(request, response);
    });
    open(t, bed).pause().write(head);
    await closed.promise;
    assert.equal(bed.cuts(), 1);
  });

  it("is cut over TLS too", async (t) => {
    const closed = Promise.withResolvers<void>();
    const bed = await serve(
      t,
      (request, response) => {
        response.once("close", closed.resolve);
        sendMuch(request, response);
      },
      tls,
    );
    const client = connectTls({ port: bed.port, host: "127.0.0.1", rejectUnauthorized: false });
    client.on("error", () => {}).pause();
    t.after(() => client.destroy());
    client.write(head);
    await closed.promise;
    assert.equal(bed.cuts(), 1);
  });

  it("is cut where requests come and their responses pile up", async (t) => {
    const bed = await serve(t, (_request, response) => response.end(mebibyte));
    const client = open(t, bed).pause();
    client.write(head.repeat(PIPELINED_MAX));
    await untilCut(bed);
    assert.equal(bed.cuts(), 1);
  });

  it("is cut where its client reads a little now and then", async (t) => {
    const bed = await serve(t, sendMuch);
    const client = open(t, bed).pause();
    client.write(head);
    const trickle = setInterval(() => client.read(10), 50);
    t.after(() => clearInterval(trickle));
    await untilCut(bed);
    assert.equal(bed.cuts(), 1);
  });

  for (const secure of [false, true])
    it(`of a slow but steady reader stays${secure ? " over TLS" : ""}`, async (t) => {
      const bed = await serve(t, sendMuch, secure ? tls : null);
      const client = secure
        ? connectTls({ port: bed.port, host: "127.0.0.1", rejectUnauthorized: false })
        : open(t, bed);
      t.after(() => client.destroy());
      client.write(head);
      let readBytes = 0;
      client.on("readable", () => {});
      // Slower than the kernel's buffer lets the process see within a window.
      const reading = setInterval(() => {
        const size = Math.min(client.readableLength, 10_000);
        if (size > 0) readBytes += client.read(size).length;
      }, 50);
      t.after(() => clearInterval(reading));
      while (readBytes < 1_000_000) {
        assert.ok(!bed.sockets[0]?.destroyed);
        await sleep(50);
      }
      assert.equal(bed.cuts(), 0);
    });

  it("on which the server itself is slow stays", async (t) => {
    const bed = await serve(t, (_request, response) => {
      response.write("first ");
      setTimeout(() => response.end("last"), windowMs * 2);
    });
    const client = open(t, bed);
    client.write(head);
    let text = "";
    for await (const chunk of client) {
      text += chunk;
      if (text.includes("last")) break;
    }
    assert.equal(bed.cuts(), 0);
  });
});
