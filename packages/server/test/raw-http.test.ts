import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { expectError } from "./support/expect-error.ts";
import { openSocket, readAnswer, requestHead, sendRaw } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

describe("what no HTTP client sends", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  /** Some refusals come before there is a request, with nothing to suggest. */
  function expectRefusal(answer: Awaited<ReturnType<typeof sendRaw>>, status: number, what = "") {
    assert.equal(answer.status, status, what);
    assert.equal(answer.body.error.code, "VALIDATION_ERROR");
    assert.equal(answer.body.error.type, "invalid_request");
    assert.match(answer.headers.get("x-request-id") ?? "", /^[\w.-]{1,64}$/);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
  }

  it("is refused in the envelope, with a request id", async () => {
    const bytes: Record<string, string | Buffer> = {
      garbage: "hello\r\n\r\n",
      binary: Buffer.from([0x80, 0x00, 0xff, 0x0a, 0x0d, 0x0a]),
      "a TLS greeting": Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00]),
      "NUL in the path": "GET /api/v1/\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "a path without a slash": "GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "a length and chunks": requestHead("POST", "/api/v1/projects", [
        "Content-Length: 5",
        "Transfer-Encoding: chunked",
      ]),
      "two lengths": requestHead("POST", "/api/v1/projects", ["Content-Length: 5", "Content-Length: 6"]),
      "a negative length": requestHead("POST", "/api/v1/projects", ["Content-Length: -1"]),
      "a space before the colon": requestHead("GET", "/healthz", ["X-A : b"]),
      "a folded header": requestHead("GET", "/healthz", ["X-A: b", " c"]),
      "bare line feeds in a header": "GET /healthz HTTP/1.1\nHost: localhost\n X: y\n\n",
      "HTTP 9": "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
      "no Host": "GET /healthz HTTP/1.1\r\n\r\n",
      "two Hosts": requestHead("GET", "/healthz", ["Host: files.example.com"]),
      "one Host twice": requestHead("GET", "/healthz", ["hOST: localhost"]),
      "two Hosts of an old client": "GET /healthz HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
      "one length twice": requestHead("POST", "/api/v1/projects", ["Content-Length: 5", "Content-Length: 5"]),
      "chunks of chunks": requestHead("POST", "/api/v1/projects", [
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: chunked",
      ]),
      "chunks that are not the last coding": requestHead("POST", "/api/v1/projects", [
        "Transfer-Encoding: chunked, gzip",
      ]),
    };
    for (const [what, sent] of Object.entries(bytes)) {
      expectRefusal(await sendRaw(app.url, sent), 400, what);
    }
  });

  it("is told that its body ended too early where it did", async () => {
    const socket = await openSocket(app.url);
    const key = `Authorization: Bearer ${app.owner.live}`;
    const lines = [key, "Content-Type: application/json", "Content-Length: 5"];
    socket.end(`${requestHead("POST", "/api/v1/projects", lines)}{"n`);
    const answer = await readAnswer(socket);
    expectRefusal(answer, 400);
    assert.equal(answer.body.error.message, "The body ended before its declared length.");
    assert.ok(answer.body.error.suggestion);
  });

  it("is 431 for headers beyond 16 KiB, one or many", async () => {
    expectRefusal(
      await sendRaw(app.url, requestHead("GET", "/healthz", [`X-A: ${"a".repeat(20_000)}`])),
      431,
    );
    expectRefusal(await sendRaw(app.url, requestHead("GET", "/healthz", Array(3000).fill("A: bcd"))), 431);
    expectRefusal(await sendRaw(app.url, requestHead("GET", `/${"a".repeat(20_000)}`)), 431);
  });

  it("does not keep its connection by never closing it", async () => {
    const { server } = app.app.http;
    const count = () => new Promise<number>((resolve) => server.getConnections((_error, n) => resolve(n)));
    const before = await count();
    const sockets = await Promise.all(Array.from({ length: 3 }, () => openSocket(app.url)));
    for (const socket of sockets) {
      socket.allowHalfOpen = true;
      socket.on("error", () => {}).write("hello\r\n\r\n");
      expectRefusal(await readAnswer(socket), 400);
    }
    while ((await count()) > before) await wait(100);
    for (const socket of sockets) socket.destroy();
  });

  it("is answered where it is odd but harmless", async () => {
    assert.equal((await sendRaw(app.url, "GET /healthz HTTP/1.0\r\n\r\n")).status, 200);
    assert.equal((await sendRaw(app.url, requestHead("GET", "/healthz", ["Expect: miracles"]))).status, 200);
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket"];
    assert.equal((await sendRaw(app.url, requestHead("GET", "/healthz", upgrade))).status, 200);
    expectError(await sendRaw(app.url, requestHead("OPTIONS", "*")), 404, "NOT_FOUND");
    expectError(await sendRaw(app.url, requestHead("GET", "//evil.example/")), 404, "NOT_FOUND");
  });

  it("takes nobody's answer who called before on the same connection", async () => {
    const body = JSON.stringify({ name: "Before" });
    const head = requestHead("POST", "/api/v1/projects", [
      `Authorization: Bearer ${app.owner.live}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ]);
    const socket = await openSocket(app.url);
    socket.write(`${head}${body}hello`);
    const created = await readAnswer(socket);
    assert.deepEqual([created.status, created.body.project?.name], [201, "Before"]);
    assert.equal(created.headers.get("connection"), "close");
    for await (const more of socket) assert.fail(`nothing more is said: ${more}`);
  });

  it("is the same request where it names the server in front of the path, as through a proxy", async () => {
    const tenant = await app.createTenant("pro");
    const client = createUploadClient(app, tenant.live);
    const send = (method: string, target: string, lines: string[] = [], body = "") =>
      sendRaw(app.url, requestHead(method, target, [...lines, `Content-Length: ${body.length}`]) + body);
    const there = "http://localhost:4000";
    for (const path of ["/", "/docs", "/components", "/healthz?x=/y"])
      assert.equal((await send("GET", there + path)).status, 200, path);
    for (const target of [there, `${there}?x`, "HTTP://[::1]/healthz"])
      assert.equal((await send("GET", target)).status, 200, target);
    expectError(await send("POST", `${there}/healthz`), 405, "METHOD_NOT_ALLOWED");
    expectError(await send("GET", "http://upstow.example/docs"), 403, "FORBIDDEN");

    const upload = await client.request();
    const { pathname, search } = new URL(upload.uploadUrl);
    const target = there + pathname + search;
    if (upload.uploadUrl.startsWith(app.url)) {
      assert.equal((await send("PUT", target, ["Content-Type: text/plain"], `${smallBody}`)).status, 200);
    }

    const json = ["Content-Type: application/json", "Idempotency-Key: once"];
    const lines = [`Authorization: Bearer ${tenant.live}`, ...json];
    const made = [];
    for (const path of ["/api/v1/projects", `${there}/api/v1/projects`])
      made.push((await send("POST", path, lines, '{"name":"one"}')).body.project._id);
    assert.equal(made[0], made[1]);
  });

  it("does no harm to the requests beside it", async () => {
    const broken = await Promise.all(Array.from({ length: 50 }, () => openSocket(app.url)));
    for (const socket of broken) {
      socket.on("error", () => {});
      socket.write(
        requestHead("POST", "/api/v1/projects", [
          "Content-Length: 100",
          `Authorization: Bearer ${app.owner.live}`,
        ]),
      );
      socket.resetAndDestroy();
    }
    assert.equal((await app.call("GET", "projects", { key: app.owner.live })).status, 200);
    assert.ok(
      !app.logLines.some((line) => ["error", "fatal"].includes(JSON.parse(line).level)),
      app.logLines.join(""),
    );
  });
});

describe("a slow body", () => {
  const bodyWithinMs = 60;
  let app: TestApp;
  before(async () => {
    app = await startApp({ bodyWithinMs });
  });
  after(() => app.close());
  const head = (path: string, type: string, length: number) =>
    requestHead("POST", path, [
      `Content-Type: ${type}`,
      `Content-Length: ${length}`,
      `Authorization: Bearer ${app.owner.live}`,
      `Origin: ${app.app.deps.config.publicUrl}`,
    ]);

  const needKey = ["/api/v1/projects", "/api/v1/upload/request"];
  const ofVisitors = ["sign-in", "sign-in/passkey", "claim", "invitations/sign-up"];
  const needNone = ["/api/v1/mcp", ...ofVisitors.map((name) => `/dashboard/api/${name}`)];
  for (const path of [...needKey, ...needNone])
    it(`is cut with 408 at ${path}, and the connection with it`, { timeout: 20_000 }, async () => {
      const socket = await openSocket(app.url);
      const ended = once(socket, "close");
      socket.write(`${head(path, "application/json", 10)}{`);
      const answer = await readAnswer(socket);
      assert.deepEqual([answer.status, answer.body.error.code], [408, "VALIDATION_ERROR"]);
      assert.ok(answer.headers.get("x-request-id"));
      socket.resume();
      await ended;
    });

  it("is not confused with one that was refused unread, or read in time", async () => {
    const socket = await openSocket(app.url);
    const body = JSON.stringify({ name: "in time" });
    for (const [type, status] of [
      ["text/plain", 400],
      ["application/json", 201],
      ["text/plain", 400],
    ] as const) {
      socket.write(head("/api/v1/projects", type, body.length) + body);
      assert.equal((await readAnswer(socket)).status, status);
      await wait(2 * bodyWithinMs);
    }
    socket.destroy();
  });
});
