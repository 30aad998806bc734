import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  ERROR_TEXT_MAX,
  HEADERS_MAX,
  QUERY_PARAMS_MAX,
  REQUEST_URL_MAX,
  STREAMS_PER_ACCOUNT_MAX,
  STREAMS_PER_KEY_MAX,
  TOOL_BATCH_MAX,
  TOOL_BODY_MAX_BYTES,
} from "@upstow/contract";
import { errorBody } from "../src/http/error-handler.ts";
import { AppError } from "../src/kernel/errors.ts";
import { createOpenStreams } from "../src/webhooks/open-streams.ts";
import { expectError } from "./support/expect-error.ts";
import { requestHead, sendRaw } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";

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
