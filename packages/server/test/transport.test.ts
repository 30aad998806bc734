import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { networkInterfaces } from "node:os";
import { after, before, describe, it } from "node:test";
import { readConfig } from "../src/config.ts";
import { expectError } from "./support/expect-error.ts";
import { sendRaw } from "./support/raw-http.ts";
import { createSelfSigned, type SelfSigned } from "./support/self-signed.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";

const hsts = "max-age=31536000";
const get = (path: string, host: string, lines: string[] = []) =>
  `${[`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join("\r\n")}\r\n\r\n`;

describe("UPSTOW_HTTP_FROM", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ env: { UPSTOW_HOST: "0.0.0.0", UPSTOW_HTTP_FROM: "127.0.0.0/8, fd00::/8" } });
  });
  after(() => app.close());
  const authorized = () => `Authorization: Bearer ${app.owner.live}`;

  it("accepts plain HTTP from its addresses, whatever the Host", async () => {
    for (const host of ["upstow:4000", "upstow", "files.example.com", "localhost"]) {
      const answer = await sendRaw(app.url, get("/api/v1/projects", host, [authorized()]));
      assert.equal(answer.status, 200, host);
      assert.equal(answer.headers.get("strict-transport-security"), null);
    }
  });

  it("accepts nothing from other addresses, or what somebody forwards", async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;
    assert.ok(address, "a machine has an address of its own");
    const url = `http://${address}:${new URL(app.url).port}`;
    expectError(await sendRaw(url, get("/api/v1/projects", "upstow", [authorized()])), 403, "FORBIDDEN");
    for (const line of ["X-Forwarded-For: 203.0.113.9", "Via: 1.1 proxy", "Forwarded: for=203.0.113.9"]) {
      const answer = await sendRaw(app.url, get("/api/v1/projects", "upstow", [authorized(), line]));
      expectError(answer, 403, "FORBIDDEN");
    }
  });

  it("takes private networks only", () => {
    for (const text of [
      "10.0.0.0/8",
      "172.16.0.0/12, 192.168.1.7",
      "127.0.0.1",
      "::1",
      "fd12::/64",
      "fe80::/10",
      "169.254.0.0/16",
      "100.64.0.0/10",
      "::ffff:10.1.0.0/112",
    ]) {
      assert.doesNotThrow(() => readConfig({ UPSTOW_HTTP_FROM: text }), text);
    }
    for (const text of [
      "0.0.0.0/0",
      "::/0",
      "8.8.8.8",
      "203.0.113.0/24",
      "172.0.0.0/8",
      "10.0.0.0/7",
      "10.0.0.0/8, 8.8.8.0/24",
      "2001:db8::/32",
      "::ffff:8.8.8.8",
      "f000::/4",
      "private",
    ]) {
      assert.throws(
        () => readConfig({ UPSTOW_HTTP_FROM: text }),
        ({ message }: Error) => message.startsWith("UPSTOW_HTTP_FROM ") && !message.includes("\n"),
        text,
      );
    }
  });
});

describe("who counts as local", () => {
  it("is nobody behind something that says so by Via or Forwarded", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    assert.equal((await sendRaw(app.url, get("/metrics", "localhost"))).status, 200);
    for (const line of ["Via: 1.1 cache", "Forwarded: for=127.0.0.1"]) {
      expectError(await sendRaw(app.url, get("/metrics", "localhost", [line])), 403, "FORBIDDEN");
      expectError(await sendRaw(app.url, get("/docs", "localhost", [line])), 403, "FORBIDDEN");
    }
  });

  it("is not a trusted proxy that names no client", async (t) => {
    const env = { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_METRICS_TOKEN: "scrape-me" };
    const app = await startApp({ env });
    t.after(() => app.close());
    for (const lines of [[], ["X-Forwarded-Proto: https", "X-Forwarded-For: 127.0.0.1"]]) {
      expectError(await sendRaw(app.url, get("/metrics", "localhost", lines)), 401, "UNAUTHORIZED");
      const token = [...lines, "Authorization: Bearer scrape-me"];
      assert.equal((await sendRaw(app.url, get("/metrics", "localhost", token))).status, 200);
    }
    // Nothing but Via: neither who called nor how.
    const via = await sendRaw(app.url, get("/metrics", "localhost", ["Via: 1.1 cache"]));
    expectError(via, 403, "FORBIDDEN");
  });
});

describe("with TLS in the process", () => {
  let tls: SelfSigned;
  before(async () => {
    tls = await createSelfSigned();
  });
  after(() => tls.remove());
  const start = (env: Record<string, string> = {}) =>
    startApp({ env: { UPSTOW_TLS_CERT: tls.certPath, UPSTOW_TLS_KEY: tls.keyPath, ...env } });

  async function callTls(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const request = httpsRequest(url, { ca: tls.cert, agent: false, headers });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response;
  }

  it("plain HTTP on the same port is refused, over loopback and from a proxy too", async (t) => {
    const app = await start({ UPSTOW_HTTP_FROM: "127.0.0.0/8", UPSTOW_TRUSTED_PROXIES: "127.0.0.1" });
    t.after(() => app.close());
    const plainUrl = app.url.replace("https:", "http:");
    const key = `Authorization: Bearer ${app.owner.live}`;
    for (const lines of [[key], [key, "X-Forwarded-Proto: https"]]) {
      for (const path of ["/api/v1/projects", "/metrics", "/dashboard", "/"]) {
        const answer = await sendRaw(plainUrl, get(path, "localhost", lines));
        expectError(answer, 403, "FORBIDDEN");
        assert.equal(answer.headers.get("strict-transport-security"), null);
      }
    }
    for (const path of ["/healthz", "/readyz"])
      assert.equal((await sendRaw(plainUrl, get(path, "localhost"))).status, 200);
    assert.equal((await callTls(`${app.url}/metrics`)).statusCode, 401, "a proxy is at this address");
  });

  it("metrics are not for a proxy that passes on nothing but its client's Host", async (t) => {
    const app = await start();
    t.after(() => app.close());
    const url = `${app.url}/metrics`;
    assert.equal((await callTls(url)).statusCode, 200);
    for (const host of ["files.example.com", "192.0.2.1"])
      assert.equal((await callTls(url, { host })).statusCode, 401, host);
  });

  it("every answer tells browsers to come back over HTTPS, unless that is turned off", async (t) => {
    const [app, quiet] = [await start(), await start({ UPSTOW_HSTS: "off" })];
    t.after(() => Promise.all([app.close(), quiet.close()]));
    const paths = ["/healthz", "/", "/dashboard", "/api/v1/projects", "/f/none", "/nowhere"];
    for (const path of paths) {
      const answer = await callTls(app.url + path);
      assert.equal(answer.headers["strict-transport-security"], hsts, path);
      assert.equal((await callTls(quiet.url + path)).headers["strict-transport-security"], undefined);
    }
  });
});

describe("behind a proxy that ends TLS", () => {
  it("answers carry HSTS where the caller used https, files from memory and errors about them included", async (t) => {
    const env = { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_HTTP_FROM: "127.0.0.1" };
    const app = await startApp({ env });
    t.after(() => app.close());
    const file = await uploadFile(app, "hello", { key: app.owner.live, name: "a.txt" });
    const { pathname } = new URL(file.url);
    const ask = (lines: string[]) => sendRaw(app.url, get(pathname, "files.example.com", lines));
    const secure = "X-Forwarded-Proto: https";
    // The second one comes from memory.
    for (const lines of [[secure], [secure], [secure, "Range: bytes=1-2"], [secure, "If-Match: x"]]) {
      const answer = await ask(lines);
      assert.equal(answer.headers.get("strict-transport-security"), hsts, `${lines} ${answer.status}`);
    }
    assert.equal((await ask([])).headers.get("strict-transport-security"), null);
    assert.equal((await ask(["X-Forwarded-Proto: http"])).headers.get("strict-transport-security"), null);
  });

  it("UPSTOW_HSTS is on or off", () => {
    assert.throws(() => readConfig({ UPSTOW_HSTS: "maybe" }), /^ConfigError: UPSTOW_HSTS must be/);
    assert.equal(readConfig({}).hsts, true);
    assert.equal(readConfig({ UPSTOW_HSTS: "OFF" }).hsts, false);
  });
});
