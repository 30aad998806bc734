import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import {
  ANONYMOUS_BODY_MAX_BYTES,
  ERROR_TEXT_MAX,
  HEADERS_MAX,
  LARGE_BODY_BYTES,
  LARGE_REQUESTS_AT_ONCE,
  QUERY_PARAMS_MAX,
  REQUEST_URL_MAX,
  STREAMS_PER_ACCOUNT_MAX,
  STREAMS_PER_KEY_MAX,
  TOOL_BATCH_MAX,
  TOOL_BODY_MAX_BYTES,
} from "@upstow/contract";
import type { RouteOptions } from "fastify";
import { collectRoutes } from "../../../test/support/collect-routes.ts";
import { errorBody } from "../src/http/error-handler.ts";
import { AppError } from "../src/kernel/errors.ts";
import { createOpenStreams } from "../src/webhooks/open-streams.ts";
import { createSessionToken } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { openSocket, readAnswer, requestHead, sendRaw } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";

describe("the size of a request", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("is bounded in headers", async () => {
    const head = (count: number) =>
      requestHead(
        "GET",
        "/healthz",
        Array.from({ length: count }, (_, i) => `X-${i}: a`),
      );
    assert.equal((await sendRaw(app.url, head(HEADERS_MAX - 10))).status, 200);
    const refused = await sendRaw(app.url, head(HEADERS_MAX + 1));
    assert.deepEqual([refused.status, refused.body.error.code], [431, "VALIDATION_ERROR"]);
  });

  it("is bounded in its URL and the parameters of that", async () => {
    const long = (length: number) => `/healthz?${"a".repeat(length - "/healthz?".length)}`;
    assert.equal((await app.call("GET", long(REQUEST_URL_MAX))).status, 200);
    expectError(await app.call("GET", long(REQUEST_URL_MAX + 1)), 414, "VALIDATION_ERROR");
    const params = (count: number) => `/healthz?${new Array(count).fill("a=1").join("&")}`;
    assert.equal((await app.call("GET", params(QUERY_PARAMS_MAX))).status, 200);
    expectError(await app.call("GET", params(QUERY_PARAMS_MAX + 1)), 400, "VALIDATION_ERROR");
  });

  const itOnDisk = onlyOnDisk("upload URLs of a bucket do not lead here");
  itOnDisk("is no reason to tell more about a long upload URL than about a wrong one", async () => {
    const signed = await app.call("GET", `/u/${"a".repeat(REQUEST_URL_MAX)}`);
    assert.deepEqual([signed.status, signed.body.error.code], [403, "FORBIDDEN"]);
  });

  it("is bounded in messages and bytes of the tool protocol", async () => {
    const message = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    const send = (body: unknown) =>
      app.call("POST", "mcp", { body, headers: { accept: "application/json, text/event-stream" } });
    const batch = Array.from({ length: TOOL_BATCH_MAX + 1 }, (_, id) => message(id));
    expectError(await send(batch), 400, "VALIDATION_ERROR");
    assert.notEqual((await send(batch.slice(1))).body?.error?.code, "VALIDATION_ERROR");
    const padded = { ...message(1), params: { text: "a".repeat(TOOL_BODY_MAX_BYTES) } };
    expectError(await send(padded), 413, "VALIDATION_ERROR");
  });
});

describe("long bodies", () => {
  const openToAll = { UPSTOW_WELCOME_UPLOADS: "on" };
  let app: TestApp;
  let routes: RouteOptions[];
  before(async () => {
    routes = await collectRoutes(async () => {
      app = await startApp({ env: openToAll });
    });
  });
  after(() => app.close());

  /** Everything of a request but the last byte of its body. The service is about to handle it. */
  async function hold(key: string, path: string, body: string): Promise<Socket> {
    const socket = await openSocket(app.url);
    const lines = [`Authorization: Bearer ${key}`, "Content-Type: application/json", "Expect: 100-continue"];
    socket.write(requestHead("POST", `/api/v1/${path}`, [...lines, `Content-Length: ${body.length}`]));
    assert.equal((await readAnswer(socket)).status, 100);
    socket.write(body.slice(0, -1));
    return socket;
  }

  async function finish(socket: Socket, body: string): Promise<number> {
    socket.write(body.slice(-1));
    const { status } = await readAnswer(socket);
    socket.destroy();
    return status;
  }

  it("of callers without key or session are not read", async () => {
    const taking = routes.flatMap(({ method, url }) =>
      [method].flat().flatMap((name) => (/^(POST|PUT|PATCH|DELETE)$/.test(name) ? [{ name, url }] : [])),
    );
    assert.ok(taking.length > 100, `${taking.length} routes`);
    // It soon gives up waiting for the rest of a body, which is 408.
    const impatient = await startApp({ env: openToAll, bodyWithinMs: 500 });
    const read: string[] = [];
    for (const { name, url } of taking) {
      const head = requestHead(name, url.replaceAll(/:\w+|\*/g, "x"), [
        `Content-Length: ${ANONYMOUS_BODY_MAX_BYTES + 1}`,
        "Content-Type: application/json",
        `Origin: ${impatient.url}`,
      ]);
      const { status } = await sendRaw(impatient.url, head);
      assert.ok(status >= 400, `${name} ${url}: ${status}`);
      if (status === 408) read.push(`${name} ${url}`);
    }
    await impatient.close();
    // It has a limit of its own.
    assert.deepEqual(read, ["POST /api/v1/mcp"]);
  });

  it("of one account are read a few at a time; small ones and those of others pass", async () => {
    const [tenant, other] = [await app.createTenant("free"), await app.createTenant("free")];
    const long = JSON.stringify({ fileName: "a".repeat(LARGE_BODY_BYTES) });
    const send = (key: string, body: string) => app.call("POST", "upload/request", { key, body });
    const held = await Promise.all(
      Array.from({ length: LARGE_REQUESTS_AT_ONCE }, () => hold(tenant.live, "upload/request", long)),
    );
    // Once a later call is answered, the service has seen these.
    expectError(await send(tenant.live, "{}"), 400, "VALIDATION_ERROR");
    let isAnswered = false;
    const waiting = send(tenant.test, long).then((answer) => {
      isAnswered = true;
      return answer;
    });
    for (let i = 0; i < 20; i++) {
      expectError(await send(other.live, long), 400, "VALIDATION_ERROR");
      expectError(await send(tenant.live, "{}"), 400, "VALIDATION_ERROR");
    }
    assert.equal(isAnswered, false);
    // One that hangs up makes room as well as one that ends.
    held.shift()?.destroy();
    expectError(await waiting, 400, "VALIDATION_ERROR");
    assert.deepEqual(new Set(await Promise.all(held.map((socket) => finish(socket, long)))), new Set([400]));
    expectError(await send(tenant.live, long), 400, "VALIDATION_ERROR");
  });

  it("are not all that makes a request large", async () => {
    const large = routes.flatMap(({ method, url, config }) => (config?.isLarge ? [`${method} ${url}`] : []));
    const calls = [
      "POST /upload/batch/request",
      "POST /upload/batch/complete",
      "POST /upload/multipart/init",
      "POST /upload/multipart/sign",
      "DELETE /files",
      "POST /files/claim",
      "POST /files/restore",
      "POST /files/links",
      "POST /files/links/revoke",
      "GET /projects/:id/routers",
    ];
    const ofTheDashboard = [
      "POST /files/change",
      "POST /files/delete",
      "POST /search/change",
      "POST /search/delete",
    ];
    const dashboard = "/dashboard/api/in/:projectId/:environment";
    for (const prefix of ["/api/v1", dashboard])
      for (const call of calls) assert.ok(large.includes(call.replace(" ", ` ${prefix}`)), call);
    for (const call of ofTheDashboard) assert.ok(large.includes(call.replace(" ", ` ${dashboard}`)), call);

    const tenant = await app.createTenant("free");
    const empty = JSON.stringify({ files: [] });
    const held = await Promise.all(
      Array.from({ length: LARGE_REQUESTS_AT_ONCE }, () => hold(tenant.live, "upload/batch/request", empty)),
    );
    await app.call("GET", "usage", { key: tenant.live });
    const path = `projects/${tenant.projectId}/routers?limit=1`;
    let isAnswered = false;
    const waiting = app.call("GET", path, { key: tenant.live }).then((answer) => {
      isAnswered = true;
      return answer;
    });
    for (let i = 0; i < 20; i++) await app.call("GET", "usage", { key: tenant.live });
    assert.equal(isAnswered, false);
    assert.deepEqual(new Set(await Promise.all(held.map((socket) => finish(socket, empty)))), new Set([400]));
    assert.equal((await waiting).status, 200);
  });
});

describe("large requests whose clients hang up", () => {
  it("keep their places until their work has ended", async (t) => {
    const { promise: turn, resolve: endTurn } = Promise.withResolvers<void>();
    t.after(() => endTurn());
    const app = await startApp();
    t.after(() => app.close());
    const { turns } = app.app.deps;
    const tenant = await app.createTenant("pro");
    const cookie = `Cookie: upstow_session=${await createSessionToken(app, tenant.accountId)}`;
    const path = `/dashboard/api/in/${tenant.projectId}/live/search/change`;
    const body = JSON.stringify({ before: "z".repeat(26), name: "a", change: { access: "private" } });
    const lines = [cookie, `Origin: ${app.url}`, "Content-Type: application/json"];
    const head = requestHead("POST", path, [...lines, `Content-Length: ${body.length}`]);
    // Every search has to wait for this one's turn to end.
    void turns.take("someone else", () => turn);
    const waitingOf = async (most: number) => {
      for (let tries = 0; tries < 3_000 && turns.waitingOf(tenant.accountId) < most; tries++) await wait(10);
      return turns.waitingOf(tenant.accountId);
    };
    for (let sent = 1; sent <= LARGE_REQUESTS_AT_ONCE; sent++) {
      const socket = await openSocket(app.url);
      socket.write(head + body);
      assert.equal(await waitingOf(sent), sent);
      socket.destroy();
    }
    const last = await openSocket(app.url);
    last.write(head + body);
    // Once later calls are answered, the service has seen it.
    const headers = { cookie: cookie.slice("Cookie: ".length) };
    for (let i = 0; i < 20; i++)
      assert.equal((await app.call("GET", "/dashboard/api/session", { headers })).status, 200);
    assert.equal(turns.waitingOf(tenant.accountId), LARGE_REQUESTS_AT_ONCE);
    endTurn();
    assert.equal((await readAnswer(last)).status, 200);
    last.destroy();
  });
});

describe("what is kept for callers", () => {
  it("is bounded in the texts of an error", () => {
    const text = "x".repeat(ERROR_TEXT_MAX + 1);
    const details = [{ path: text, message: text }];
    const { error } = errorBody(new AppError("VALIDATION_ERROR", text, { suggestion: text, details }));
    const texts = [error.message, error.suggestion, error.details?.[0]?.path, error.details?.[0]?.message];
    assert.deepEqual(new Set(texts.map((cut) => cut?.length)), new Set([ERROR_TEXT_MAX]));
  });

  it("is bounded in streams of a key and of an account", async () => {
    const streams = createOpenStreams();
    async function* events(): AsyncGenerator<string> {
      yield "";
    }
    const open = (keyId: string, accountId: string) => streams.open({ keyId, accountId }, events);
    const ofKey = Array.from({ length: STREAMS_PER_KEY_MAX }, () => open("key", "account"));
    assert.ok(ofKey.every((stream) => stream !== null));
    assert.equal(open("key", "account"), null);
    for (let i = STREAMS_PER_KEY_MAX; i < STREAMS_PER_ACCOUNT_MAX; i++)
      assert.notEqual(open(`key ${i}`, "account"), null);
    assert.equal(open("one more", "account"), null);
    assert.notEqual(open("key of another", "another"), null);
    const closed = new Promise((resolve) => ofKey[0]?.once("close", resolve));
    ofKey[0]?.destroy();
    await closed;
    assert.notEqual(open("one more", "account"), null);
    await streams.closeAll();
  });
});
