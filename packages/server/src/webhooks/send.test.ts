import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { createGzip } from "node:zlib";
import { pickFreePort } from "../../../../test/support/free-port.ts";
import {
  type Certificate,
  createCertificate,
  trustCertificate,
} from "../../test/support/webhooks/certificate.ts";
import { type Receiver, startReceiver } from "../../test/support/webhooks/receiver.ts";
import { parseCidrList } from "../kernel/net/cidr-list.ts";
import { createOutboundGuard } from "../kernel/net/outbound-guard.ts";
import { createSender, type SendResult } from "./send.ts";

const execute = promisify(execFile);
const neverStop = new AbortController().signal;
const loopback: LookupAddress = { address: "127.0.0.1", family: 4 };
const shortMs = 400;
const MB = 1024 * 1024;

describe("sending a delivery", () => {
  let certificate: Certificate;
  let receiver: Receiver;
  before(async () => {
    certificate = await createCertificate(["hooks.example", "metadata.example"]);
    trustCertificate(certificate);
    receiver = await startReceiver(certificate);
  });
  after(() => receiver.close());
  beforeEach(() => {
    receiver.received = [];
  });

  interface Network {
    allow?: string;
    resolve?: (hostname: string) => Promise<LookupAddress[]>;
    deadlineMs?: number;
  }

  function send(url: string, network: Network = {}): Promise<SendResult> {
    const guard = createOutboundGuard({
      allow: parseCidrList(network.allow ?? "127.0.0.0/8"),
      ...(network.resolve === undefined ? {} : { resolve: network.resolve }),
    });
    const body = Buffer.from('{"a":1}');
    const headers = { "content-type": "application/json", "delivery-event": "test" };
    const delivery = { url: new URL(url), headers, body };
    return createSender(guard, network.deadlineMs ?? 10_000)(delivery, neverStop);
  }

  function answer(respond: (response: ServerResponse) => void): string {
    receiver.answer = (_request, response) => respond(response);
    return `${receiver.url}/hook`;
  }

  it("posts the body and headers, and returns what was answered", async () => {
    const result = await send(answer((response) => response.writeHead(202).end("thanks\0")));
    assert.deepEqual(result, { statusCode: 202, error: null, response: "thanks\ufffd" });
    const [request] = receiver.received;
    assert.equal(request?.body.toString(), '{"a":1}');
    assert.equal(request?.headers["content-length"], "7");
    assert.equal(request?.headers["delivery-event"], "test");
    assert.equal(request?.headers.connection, "close");
  });

  it("takes nothing but 2xx for a success", async () => {
    const classes = [
      [200, null],
      [204, null],
      [299, null],
      [300, "redirect"],
      [304, "redirect"],
      [308, "redirect"],
      [400, "client_error"],
      [410, "client_error"],
      [429, "client_error"],
      [500, "server_error"],
      [503, "server_error"],
      [599, "server_error"],
      [700, "invalid_response"],
    ] as const;
    for (const [status, error] of classes) {
      const result = await send(answer((response) => response.writeHead(status).end()));
      assert.deepEqual([result.statusCode, result.error], [status, error]);
    }
  });

  it("takes an answer that is whole, whatever follows it", async () => {
    for (const [text, status, body] of [
      ["HTTP/1.1 204 No Content\r\n\r\nok", 204, ""],
      ["HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nfür", 200, "f\u00fc"],
      ["HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\nmore", 500, "no"],
    ] as const) {
      const result = await send(answer((response) => response.socket?.end(text)));
      const error = status === 500 ? "server_error" : null;
      assert.deepEqual(result, { statusCode: status, error, response: body }, text);
    }
  });

  it("reports Retry-After with 429 and 503 only", async () => {
    for (const [status, expected] of [
      [429, "7"],
      [503, "7"],
      [500, undefined],
    ] as const) {
      const result = await send(
        answer((response) => response.writeHead(status, { "retry-after": "7" }).end()),
      );
      assert.equal(result.retryAfter, expected);
    }
  });

  it("never visits where a redirect points", async () => {
    let visits = 0;
    const target = http.createServer((_request, response) => {
      visits += 1;
      response.end();
    });
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    const location = `http://127.0.0.1:${(target.address() as AddressInfo).port}/latest/meta-data`;
    for (const status of [301, 302, 303, 307, 308]) {
      const result = await send(answer((response) => response.writeHead(status, { location }).end()));
      assert.equal(result.error, "redirect");
    }
    assert.equal(visits, 0);
    target.close();
  });

  it("tells apart names that do not exist, closed ports, bad certificates and resets", async () => {
    const notFound = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
    const unknown = await send("https://missing.example/", { resolve: () => Promise.reject(notFound) });
    assert.deepEqual(unknown, { statusCode: null, error: "dns", response: null });
    const again = Object.assign(new Error("getaddrinfo EAI_AGAIN"), { code: "EAI_AGAIN" });
    const away = await send("https://missing.example/", { resolve: () => Promise.reject(again) });
    assert.equal(away.error, "dns");

    const closedPort = await pickFreePort();
    assert.equal((await send(`https://127.0.0.1:${closedPort}/`)).error, "refused");

    const untrusted = await startReceiver(await createCertificate());
    assert.equal((await send(untrusted.url)).error, "tls");
    assert.equal(untrusted.received.length, 0);
    await untrusted.close();
    const wrongName = await send(`https://other.example:${receiver.port}/`, {
      resolve: async () => [loopback],
    });
    assert.equal(wrongName.error, "tls");
    assert.equal((await withServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"), send)).error, "tls");
    assert.equal((await withServer((socket) => socket.resetAndDestroy(), send)).error, "reset");

    const cut = await send(answer((response) => response.socket?.destroy()));
    assert.equal(cut.error, "reset");
    const halfway = await send(
      answer((response) => {
        response.writeHead(200, { "content-length": "100" }).write("half");
        setTimeout(() => response.socket?.destroy(), 20);
      }),
    );
    assert.deepEqual([halfway.statusCode, halfway.error], [200, "reset"]);
    const garbage = await send(answer((response) => response.socket?.end("HELLO\r\n\r\n")));
    assert.equal(garbage.error, "invalid_response");
    const upgrade = await send(
      answer((response) =>
        response.socket?.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      ),
    );
    assert.equal(upgrade.error, "invalid_response");
  });

  it("ends at the deadline whatever hangs: the name, TLS, headers, a trickle of headers or body", async () => {
    const deadlineMs = shortMs;
    const trickle = (response: ServerResponse, start: string, piece: string) => {
      const { socket } = response;
      socket?.write(start);
      const timer = setInterval(() => socket?.write(piece), 20);
      socket?.once("close", () => clearInterval(timer));
    };
    const hanging: Record<string, () => Promise<SendResult>> = {
      name: () => send("https://slow.example/", { deadlineMs, resolve: () => new Promise(() => {}) }),
      tls: () =>
        withServer(
          () => {},
          (url) => send(url, { deadlineMs }),
        ),
      "before headers": () =>
        send(
          answer(() => {}),
          { deadlineMs },
        ),
      "headers in drips": () =>
        send(
          answer((response) => trickle(response, "HTTP/1.1 200 OK\r\nx: ", "y")),
          { deadlineMs },
        ),
      "body in drips": () =>
        send(
          answer((response) => trickle(response, "HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n", "z")),
          { deadlineMs },
        ),
    };
    for (const [what, start] of Object.entries(hanging)) {
      assert.equal((await start()).error, "timeout", what);
    }
  });

  it("gives up after 30 seconds unless told otherwise", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const guard = createOutboundGuard({ allow: parseCidrList("127.0.0.0/8") });
    const url = new URL(answer(() => {}));
    let isOver = false;
    const sending = createSender(guard)({ url, headers: {}, body: Buffer.from("{}") }, neverStop);
    const ended = sending.finally(() => {
      isOver = true;
    });
    await receiver.waitFor(1);
    t.mock.timers.tick(29_999);
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    t.mock.timers.tick(1);
    assert.equal((await ended).error, "timeout");
  });

  it("reads 16 KiB of an endless or compressed answer and no more", async () => {
    const before = process.memoryUsage().rss;
    let written = 0;
    const endless = await send(
      answer((response) => {
        const chunk = Buffer.alloc(MB, "x");
        const pump = () => {
          while (!response.destroyed && written < 1024 * MB) {
            written += chunk.length;
            if (!response.write(chunk)) return;
          }
        };
        response.on("drain", pump);
        pump();
      }),
    );
    assert.equal(endless.error, null);
    assert.equal(endless.response, "x".repeat(16 * 1024));
    assert.ok(written < 64 * MB, `${written} bytes were taken`);

    const bomb = await send(
      answer((response) => {
        response.writeHead(200, { "content-encoding": "gzip" });
        const gzip = createGzip();
        gzip.pipe(response);
        gzip.end(Buffer.alloc(64 * MB));
      }),
    );
    assert.equal(bomb.error, null);
    assert.ok((bomb.response?.length ?? 0) < 200);
    assert.ok(process.memoryUsage().rss - before < 256 * MB);
  });

  it("refuses private addresses: as literals, and by names with one of them among their addresses", async () => {
    const allow = "";
    const port = receiver.port;
    const publicV4 = { address: "93.184.216.34", family: 4 };
    const publicV6 = { address: "2606:4700:4700::1111", family: 6 };
    const blocked: [string, LookupAddress[]][] = [
      [`https://127.0.0.1:${port}/`, []],
      [`https://[::ffff:127.0.0.1]:${port}/`, []],
      ["https://169.254.169.254/latest", []],
      [`https://hooks.example:${port}/`, [loopback]],
      [`https://localhost:${port}/`, [publicV4]],
      [`https://mixed.example:${port}/`, [publicV4, loopback]],
      [`https://mixed.example:${port}/`, [publicV6, { address: "::1", family: 6 }]],
    ];
    for (const [url, addresses] of blocked) {
      const result = await send(url, { allow, resolve: async () => addresses });
      assert.deepEqual(result, { statusCode: null, error: "blocked", response: null }, url);
    }
    assert.equal(receiver.received.length, 0);
  });

  it("sends over plain http to listed addresses only, judged again when it connects", async (t) => {
    const received: string[] = [];
    const plain = http.createServer((request, response) => {
      received.push(`${request.method} ${request.headers.host} ${request.headers["delivery-event"]}`);
      response.writeHead(202).end("thanks");
    });
    t.after(() => plain.close().closeAllConnections());
    plain.listen(0, "127.0.0.1");
    await once(plain, "listening");
    const { port } = plain.address() as AddressInfo;
    const resolve = async () => [loopback];
    for (const host of ["127.0.0.1", "localhost", "hooks.example"]) {
      const result = await send(`http://${host}:${port}/hook`, { resolve });
      assert.deepEqual(result, { statusCode: 202, error: null, response: "thanks" }, host);
      assert.equal(received.at(-1), `POST ${host}:${port} test`);
    }
    const elsewhere = { address: "93.184.216.34", family: 4 };
    for (const [host, network] of [
      ["127.0.0.1", { allow: "" }],
      ["localhost", { allow: "10.0.0.0/8" }],
      ["hooks.example", { allow: "", resolve }],
      ["hooks.example", { resolve: async () => [elsewhere] }],
      ["hooks.example", { resolve: async () => [loopback, elsewhere] }],
    ] as const) {
      const result = await send(`http://${host}:${port}/hook`, network);
      assert.deepEqual(result, { statusCode: null, error: "blocked", response: null }, host);
    }
    assert.equal(received.length, 3);
  });

  it("asks for a name once, and connects to the answer that was judged", async () => {
    const asked: string[] = [];
    const good = await send(`https://hooks.example:${receiver.port}/`, {
      resolve: async (hostname) => {
        asked.push(hostname);
        return [loopback];
      },
    });
    assert.equal(good.error, null);
    assert.deepEqual(asked, ["hooks.example"]);
  });

  it("uses no proxy, whatever the environment says, and trusts the operator's authorities", async () => {
    const dir = await mkdtemp(join(tmpdir(), "upstow-send-"));
    const authority = join(dir, "authority.pem");
    await writeFile(authority, certificate.cert);
    const proxy = `http://127.0.0.1:${await pickFreePort()}`;
    const script = `
      import { createSender } from ${JSON.stringify(import.meta.resolve("./send.ts"))};
      import { createOutboundGuard } from ${JSON.stringify(import.meta.resolve("../kernel/net/outbound-guard.ts"))};
      import { parseCidrList } from ${JSON.stringify(import.meta.resolve("../kernel/net/cidr-list.ts"))};
      const send = createSender(createOutboundGuard({ allow: parseCidrList("127.0.0.0/8") }), 5000);
      const request = { url: new URL(process.argv[1]), headers: {}, body: Buffer.from("{}") };
      console.log(JSON.stringify(await send(request, new AbortController().signal)));`;
    const environment = {
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
      HTTP_PROXY: proxy,
      NODE_USE_ENV_PROXY: "1",
      NODE_EXTRA_CA_CERTS: authority,
    };
    const url = answer((response) => response.end("direct"));
    const { stdout } = await execute(process.execPath, ["--input-type=module", "-e", script, url], {
      env: { ...process.env, ...environment },
    });
    assert.deepEqual(JSON.parse(stdout), { statusCode: 200, error: null, response: "direct" });
    await rm(dir, { recursive: true });
  });

  it("rejects when it is stopped, so that nobody takes that for an answer", async () => {
    const guard = createOutboundGuard({ allow: parseCidrList("127.0.0.0/8") });
    const stop = new AbortController();
    const url = answer(() => stop.abort());
    const request = { url: new URL(url), headers: {}, body: Buffer.from("{}") };
    const send = createSender(guard, 10_000);
    await assert.rejects(send(request, stop.signal), { name: "AbortError" });
    assert.equal(receiver.received.length, 1);
    await assert.rejects(send(request, stop.signal), { name: "AbortError" });
    assert.equal(receiver.received.length, 1);
  });
});

/** A server that does not speak TLS as it should. */
async function withServer(
  onConnection: (socket: net.Socket) => void,
  use: (url: string) => Promise<SendResult>,
): Promise<SendResult> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}
