import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, readlink } from "node:fs/promises";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import type { ErrorBody } from "@upstow/contract";
import { expectError } from "./support/expect-error.ts";
import { openSocket, readAnswer, requestHead } from "./support/raw-http.ts";
import { createSelfSigned } from "./support/self-signed.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, put, smallBody, type UploadClient } from "./support/upload-client.ts";

const fullPart = 5 * 1024 * 1024;

async function countOf({ app }: TestApp, metric: string): Promise<number> {
  const lines = (await app.deps.metrics.metrics()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${metric} `))?.split(" ")[1]);
}

/** The files of the store that this process, which is the server's as well, has open. */
async function listOpenBlobs({ dataDir }: TestApp): Promise<string[]> {
  const links = (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ""));
  return (await Promise.all(links)).filter((path) => path.startsWith(`${dataDir}/objects/blobs`));
}

describe("clients that stop in the middle", { timeout: 120_000 }, () => {
  let app: TestApp;
  let client: UploadClient;
  const sockets: Socket[] = [];
  before(async () => {
    app = await startApp({ idleTransferMs: 2000, bodyWithinMs: 1000 });
    client = createUploadClient(app, (await app.createTenant("enterprise")).live);
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    await app.close();
  });

  async function open(): Promise<Socket> {
    const socket = await openSocket(app.url);
    sockets.push(socket.on("error", () => {}));
    return socket;
  }

  it("reading a file are cut, and the file is closed", async () => {
    const file = await client.uploadPieces(Array.from({ length: 8 }, () => randomBytes(fullPart)));
    const before = await countOf(app, 'upstow_cut_connections_total{side="reader"}');
    const { pathname } = new URL(file.url);
    const readers = await Promise.all(Array.from({ length: 4 }, open));
    for (const reader of readers) reader.pause().write(requestHead("GET", pathname));
    if (onDisk) while ((await listOpenBlobs(app)).length === 0) await wait(10);
    while ((await countOf(app, 'upstow_cut_connections_total{side="reader"}')) < before + 4) await wait(50);
    while ((await listOpenBlobs(app)).length > 0) await wait(50);
    for (const reader of readers) {
      reader.resume();
      while (!reader.closed) await wait(20);
    }
  });

  it("listening to events are left alone as long as they read", async () => {
    const socket = await open();
    const key = `Authorization: Bearer ${client.key}`;
    socket.setEncoding("utf8").write(requestHead("GET", "/api/v1/events/stream", [key]));
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      // The first beat comes after more than two windows.
      if (text.includes(": alive")) break;
    }
    assert.match(text, /: alive/);
  });

  onlyOnDisk("clients send to the bucket itself")("sending a file are cut with 408", async () => {
    const before = await countOf(app, 'upstow_cut_connections_total{side="sender"}');
    const { uploadUrl } = await client.request({ fileSize: 1_000_000 });
    const socket = await open();
    const lines = ["Content-Type: text/plain", "Content-Length: 1000000"];
    socket.write(`${requestHead("PUT", new URL(uploadUrl).pathname, lines)}${"x".repeat(1000)}`);
    expectError(await readAnswer(socket), 408, "VALIDATION_ERROR");
    assert.equal(await countOf(app, 'upstow_cut_connections_total{side="sender"}'), before + 1);
  });

  it("sending JSON are cut with 408", async () => {
    const before = await countOf(app, 'upstow_cut_connections_total{side="sender"}');
    const socket = await open();
    const key = `Authorization: Bearer ${client.key}`;
    const lines = [key, "Content-Type: application/json", "Content-Length: 100"];
    socket.write(`${requestHead("POST", "/api/v1/upload/request", lines)}{`);
    assert.equal((await readAnswer(socket)).status, 408);
    assert.equal(await countOf(app, 'upstow_cut_connections_total{side="sender"}'), before + 1);
  });

  onlyOnDisk("clients send to the bucket itself")(
    "sending a file keep a second one out until then",
    async () => {
      const { uploadUrl, fileId } = await client.request();
      const socket = await open();
      const lines = [
        "Content-Type: text/plain",
        `Content-Length: ${smallBody.length}`,
        "Expect: 100-continue",
      ];
      socket.write(requestHead("PUT", new URL(uploadUrl).pathname, lines));
      await once(socket, "data");
      const refused = await put(uploadUrl, smallBody);
      const answer = { status: refused.status, headers: refused.headers, body: await refused.json() };
      expectError(answer, 409, "CONFLICT");
      assert.equal((answer.body as ErrorBody).error.type, "invalid_request");
      assert.equal(refused.headers.get("access-control-allow-origin"), "*");
      assert.equal(refused.headers.get("retry-after"), "5");
      assert.equal((await readAnswer(socket)).status, 408);
      assert.equal((await put(uploadUrl, smallBody)).status, 200);
      assert.equal((await client.complete(fileId)).status, 200);
    },
  );
});

describe("connections of one address", { timeout: 120_000 }, () => {
  const apps: TestApp[] = [];
  const sockets: Socket[] = [];
  after(async () => {
    for (const socket of sockets) socket.destroy();
    for (const app of apps) await app.close();
  });
  async function start(env: Record<string, string>): Promise<TestApp> {
    const app = await startApp({ env });
    apps.push(app);
    return app;
  }
  async function open({ url }: TestApp): Promise<Socket> {
    const socket = await openSocket(url);
    sockets.push(socket.on("error", () => {}));
    return socket;
  }
  function countConnections({ app }: TestApp): Promise<number> {
    return promisify(app.http.server.getConnections.bind(app.http.server))();
  }
  /** The status of a health probe, or null where the connection is closed instead. */
  async function probe(socket: Socket): Promise<number | null> {
    socket.write(requestHead("GET", "/healthz"));
    return readAnswer(socket).then(
      ({ status }) => status,
      () => null,
    );
  }

  it("are closed at once beyond the limit, counted, and logged once", async () => {
    const app = await start({ UPSTOW_CONNECTIONS_PER_ADDRESS: "3" });
    const [first, ...others] = await Promise.all([open(app), open(app), open(app)]);
    for (const socket of [first, ...others]) assert.equal(await probe(socket), 200);
    for (let round = 0; round < 3; round++) assert.equal(await probe(await open(app)), null);
    assert.equal(await countOf(app, "upstow_refused_connections_total"), 3);
    assert.equal(app.logLines.filter((line) => line.includes("UPSTOW_CONNECTIONS_PER_ADDRESS")).length, 1);
    // Nobody else is cut for it, and a place that was left is free again.
    for (const socket of [first, ...others]) assert.equal(await probe(socket), 200);
    first.destroy();
    while ((await probe(await open(app))) === null) await wait(10);
  });

  it("give their places back over TLS too", async (t) => {
    const files = await createSelfSigned();
    t.after(() => files.remove());
    const tls = { UPSTOW_TLS_CERT: files.certPath, UPSTOW_TLS_KEY: files.keyPath };
    const app = await start({ ...tls, UPSTOW_CONNECTIONS_PER_ADDRESS: "1" });
    const { hostname, port } = new URL(app.url);
    for (let round = 0; round < 5; round++) {
      const socket = connectTls({ host: hostname, port: Number(port), ca: files.cert });
      await once(socket, "secureConnect");
      assert.equal(await probe(socket), 200);
      // The second of one address is refused before its handshake.
      const second = connectTls({ host: hostname, port: Number(port), ca: files.cert });
      await assert.rejects(once(second, "secureConnect"));
      socket.destroy();
      while ((await countConnections(app)) > 0) await wait(10);
    }
  });

  it("are not limited on loopback by default, for trusted proxies, nor where the limit is 0", async () => {
    const cases: [Record<string, string>, number][] = [
      [{}, 520],
      [{ UPSTOW_CONNECTIONS_PER_ADDRESS: "0" }, 520],
      [{ UPSTOW_CONNECTIONS_PER_ADDRESS: "2", UPSTOW_TRUSTED_PROXIES: "127.0.0.0/8" }, 10],
    ];
    for (const [env, count] of cases) {
      const app = await start(env);
      const opened = await Promise.all(Array.from({ length: count }, () => open(app)));
      for (const socket of opened.slice(-3)) assert.equal(await probe(socket), 200);
      assert.equal(await countOf(app, "upstow_refused_connections_total"), 0);
    }
  });
});
