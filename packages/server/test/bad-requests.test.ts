import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { expectError } from "./support/expect-error.ts";
import { requestHead, sendRaw } from "./support/raw-http.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const json = { "content-type": "application/json" };

onAnyDatabase("bad requests", (database) => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());
  const post = (body: string, headers: Record<string, string> = json) =>
    app.call("POST", "projects", { key: app.owner.live, body, headers });

  it("refuses bodies that are not JSON, or not all of it", async () => {
    for (const body of [
      "{",
      "}",
      "{]",
      "{'name':'x'}",
      '{"name":"x",}',
      '{"name":"x"} x',
      "\u0000",
      "NaN",
      "\ufeff{}",
    ]) {
      expectError(await post(body), 400, "VALIDATION_ERROR");
    }
    assert.equal(
      (await post(' {"name" : "x\\u0041"}\n', { "content-type": "application/json; charset=utf-8" })).status,
      201,
    );
  });

  it("refuses every content type but JSON, and compressed JSON", async () => {
    for (const type of [
      "text/plain",
      "application/xml",
      "application/jsonp",
      "multipart/form-data",
      "x",
      "application/json5",
    ]) {
      const error = expectError(
        await post('{"name":"x"}', { "content-type": type }),
        400,
        "VALIDATION_ERROR",
      );
      assert.match(error.message, /Content-Type/);
    }
    for (const encoding of ["gzip", "br", "deflate", "nonsense"]) {
      expectError(
        await post('{"name":"x"}', { ...json, "content-encoding": encoding }),
        400,
        "VALIDATION_ERROR",
      );
    }
    const packed = gzipSync(Buffer.alloc(50 * 1024 * 1024, " "));
    const answer = await fetch(`${app.url}/api/v1/projects`, {
      method: "POST",
      headers: { ...json, "content-encoding": "gzip", authorization: `Bearer ${app.owner.live}` },
      body: packed,
    });
    expectError(
      { status: answer.status, headers: answer.headers, body: await answer.json() },
      400,
      "VALIDATION_ERROR",
    );
  });

  it("refuses JSON that is made to hurt", async () => {
    const bombs = {
      "arrays 50,000 deep": `{"name":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
      "objects 20,000 deep": `{"name":"x","a":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
      "100 KB of opening brackets": "[".repeat(100_000),
      "100,000 keys": `{"name":"x",${Array.from({ length: 100_000 }, (_, i) => `"${i}":1`).join()}}`,
      "a key twice": '{"name":"x","name":"y"}',
      "a key twice, escaped": '{"name":"x","n\\u0061me":"y"}',
      "a key twice, deep down": '{"name":"x","a":[{"b":":\\"","b":2}]}',
      "a number that is too large": '{"name":"x","a":1e400}',
      "a number too small": '{"name":"x","a":-1e400}',
      "an integer that would be kept as another": '{"name":"x","a":[{"id":-1234567890123456789}]}',
      "a lone surrogate": '{"name":"\\ud800"}',
      "a lone surrogate in a key": '{"name":"x","\\udfff":1}',
      NUL: '{"name":"a\\u0000b"}',
    };
    for (const [what, body] of Object.entries(bombs)) {
      const answer = await post(body);
      assert.equal(answer.status, 400, what);
      expectError(answer, 400, "VALIDATION_ERROR");
    }
    const tail = await sendRaw(
      app.url,
      Buffer.concat([
        Buffer.from(
          requestHead("POST", "/api/v1/projects", [
            `Authorization: Bearer ${app.owner.live}`,
            "Content-Type: application/json",
            "Content-Length: 12",
          ]),
        ),
        Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]),
      ]),
    );
    expectError(tail, 400, "VALIDATION_ERROR");
  });

  it("takes long numbers that are kept as they are", async () => {
    const numbers = "[9007199254740992,12345678901234567000,1000000000000000000000,0.12345678901234567891]";
    assert.equal((await post(`{"name":"1234567890123456789","a":${numbers}}`)).status, 201);
  });

  it("takes __proto__ and constructor for data and colons in strings for text", async () => {
    const answer = await post(
      '{"name":"a:b\\\\","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    assert.equal(answer.status, 201);
    assert.equal(answer.body.project.name, "a:b\\");
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    assert.equal(answer.body.project.polluted, undefined);
  });

  it("refuses a body over 1 MiB with 413, declared or not, and reads one of exactly 1 MiB", async () => {
    const head = (lines: string[]) =>
      requestHead("POST", "/api/v1/projects", [
        `Authorization: Bearer ${app.owner.live}`,
        "Content-Type: application/json",
        ...lines,
      ]);
    expectError(await sendRaw(app.url, head(["Content-Length: 1048577"])), 413, "VALIDATION_ERROR");
    expectError(await sendRaw(app.url, head(["Content-Length: 99999999999999"])), 413, "VALIDATION_ERROR");
    const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
    const chunked = `${head(["Transfer-Encoding: chunked"])}${chunk.repeat(17)}0\r\n\r\n`;
    expectError(await sendRaw(app.url, chunked), 413, "VALIDATION_ERROR");
    const exact = '{"name":"x"}'.padEnd(1_048_576, " ");
    assert.equal((await post(exact)).status, 201);
  });

  it("answers 404 for unknown paths and 405 with Allow for known ones, before it reads a body", async () => {
    const key = app.owner.live;
    for (const path of [
      "nope",
      "/api",
      "/api/v2/projects",
      "projects/x/y/z",
      "/API/V1/projects",
      "//api/v1/projects",
    ]) {
      expectError(
        await app.call("PUT", path, { key, body: "x", headers: { "content-type": "image/png" } }),
        404,
        "NOT_FOUND",
      );
    }
    const allowed = {
      projects: "GET, HEAD, POST",
      "projects/x": "GET, HEAD, PATCH, DELETE",
      "projects/x/": "GET, HEAD, PATCH, DELETE",
      "projects/x/routers": "GET, HEAD, POST",
      "routers/x?a=b": "GET, HEAD, PATCH, DELETE",
      "keys/%20": "DELETE",
      usage: "GET, HEAD",
      "/healthz": "GET, HEAD",
      "upload/multipart/init": "POST",
    };
    for (const [path, allow] of Object.entries(allowed)) {
      for (const method of ["PUT", "OPTIONS", "PROPFIND", "MKCOL"]) {
        const answer = await app.call(method, path, { headers: { "content-type": "image/png" } });
        expectError(answer, 405, "METHOD_NOT_ALLOWED");
        assert.equal(answer.headers.get("allow"), allow, `${method} ${path}`);
      }
    }
    // Where an id may stand, these words are none.
    for (const path of [
      "upload/multipart/sign",
      "upload/multipart/abort/?x=y",
      "webhooks/deliveries/redeliver",
    ]) {
      const answer = await app.call("GET", path, { key });
      expectError(answer, 405, "METHOD_NOT_ALLOWED");
      assert.equal(answer.headers.get("allow"), "POST", path);
    }
    const trace = await sendRaw(app.url, requestHead("TRACE", "/api/v1/projects", ["X-Secret: 1"]));
    expectError(trace, 405, "METHOD_NOT_ALLOWED");
  });

  it("refuses addresses that cannot be decoded, hold NUL or are too long", async () => {
    const key = app.owner.live;
    for (const path of ["projects/%zz", "projects/%", "projects/%ED%A0%80", "projects/%C0%AF", "%E0%A4%A"]) {
      expectError(await app.call("GET", path, { key }), 400, "VALIDATION_ERROR");
    }
    for (const path of ["projects/%00", "routers/a%00b", "logs?type=%00", "logs?x=%00", "keys/%00"]) {
      const method = path.startsWith("keys") ? "DELETE" : "GET";
      expectError(await app.call(method, path, { key }), 400, "VALIDATION_ERROR");
    }
    expectError(await app.call("GET", `projects/${"a".repeat(5000)}`, { key }), 404, "NOT_FOUND");
    for (const id of ["..", "%2e%2e", "%252e", "a'b", "%F0%9F%98%80", "*", ":id", "__proto__"]) {
      expectError(await app.call("GET", `routers/${id === ".." ? "x/../y" : id}`, { key }), 404, "NOT_FOUND");
    }
    assert.equal((await app.call("GET", "logs?type=%ED%A0%80", { key })).status, 200);
  });
});

describe("request ids", () => {
  it("are on every answer, the caller's own where it is harmless", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    const idFor = async (given: string) =>
      (await app.call("GET", "/healthz", { headers: { "x-request-id": given } })).headers.get("x-request-id");
    assert.equal(await idFor("trace-1_2.3"), "trace-1_2.3");
    for (const bad of ["a b", "a".repeat(65), "<script>", '"', "é"]) assert.notEqual(await idFor(bad), bad);
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await app.call("GET", "nope")).headers.get("x-request-id")),
    );
    assert.equal(new Set(ids).size, 20);
  });
});
