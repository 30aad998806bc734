import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFile, writeFile } from "node:fs/promises";
import { request as httpsRequest } from "node:https";
import { networkInterfaces } from "node:os";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { expectError } from "./support/expect-error.ts";
import { openSocket, type RawAnswer, readAnswer, sendRaw } from "./support/raw-http.ts";
import { createSelfSigned, type SelfSigned } from "./support/self-signed.ts";
import { spendAddress } from "./support/spend-address.ts";
import { startApp, type TestApp } from "./support/start-app.ts";

const get = (path: string, host: string, lines: string[] = []) =>
  `${[`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join("\r\n")}\r\n\r\n`;

function expectPlainRefused(answer: RawAnswer): void {
  const error = expectError(answer, 403, "FORBIDDEN");
  assert.match(error.suggestion, /https/);
}

describe("plain HTTP", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ env: { UPSTOW_HOST: "0.0.0.0" } });
  });
  after(() => app.close());
  const authorized = () => `Authorization: Bearer ${app.owner.live}`;
  const call = (host: string, lines: string[] = []) =>
    sendRaw(app.url, get("/api/v1/projects", host, [authorized(), ...lines]));

  it("is taken over loopback for loopback names", async () => {
    for (const host of [
      "localhost",
      "localhost:4000",
      "LOCALHOST",
      "app.localhost:1",
      "127.0.0.1",
      "127.9.9.9:80",
      "[::1]:4000",
      "[::1]",
    ]) {
      assert.equal((await call(host)).status, 200, host);
    }
  });

  it("is refused for every other name, whatever it looks like", async () => {
    const hosts = [
      "example.com",
      "localhost.example.com",
      "127.0.0.1.nip.io",
      "10.0.0.1",
      "0.0.0.0",
      "notlocalhost",
      "localhost@evil.example",
      "",
      "[::2]",
      "127.0.0.1:x",
    ];
    for (const host of hosts) expectPlainRefused(await call(host));
    expectPlainRefused(await sendRaw(app.url, "GET /api/v1/projects HTTP/1.0\r\n\r\n"));
  });

  it("is refused where a forwarding header from nobody we trust shows that something is in between", async () => {
    for (const line of [
      "X-Forwarded-Proto: https",
      "X-Forwarded-For: 127.0.0.1",
      "X-Forwarded-Host: localhost",
      "Forwarded: proto=https",
      "X-Real-IP: 127.0.0.1",
      "X-Forwarded-Port: 443",
      "X-Client-IP: 127.0.0.1",
      "True-Client-IP: 127.0.0.1",
      "CF-Connecting-IP: 127.0.0.1",
    ]) {
      expectPlainRefused(await call("localhost", [line]));
    }
  });

  it("is refused from other machines, whatever Host they send", async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;
    assert.ok(address, "a machine has an address of its own");
    const url = `http://${address}:${new URL(app.url).port}`;
    for (const host of ["localhost", "127.0.0.1", address]) {
      expectPlainRefused(await sendRaw(url, get("/api/v1/projects", host, [authorized()])));
    }
    for (const path of ["/healthz", "/readyz"])
      assert.equal((await sendRaw(url, get(path, "any.example"))).status, 200);
    expectPlainRefused(await sendRaw(url, get("/metrics", "localhost")));
  });

  it("is refused before anything else is looked at, but answers health probes", async () => {
    expectPlainRefused(await sendRaw(app.url, get("/api/v1/nope", "example.com")));
    expectPlainRefused(await sendRaw(app.url, get("/api/v1/projects", "example.com")));
    for (const path of ["/healthz", "/readyz"]) {
      assert.equal(
        (await sendRaw(app.url, get(path, "probe.example", ["X-Forwarded-For: 1.2.3.4"]))).status,
        200,
      );
    }
  });
});

describe("a trusted proxy", () => {
  it("is believed about the scheme, and one that is not named is not", async (t) => {
    const app = await startApp({ env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1" } });
    t.after(() => app.close());
    const call = (lines: string[], path = "/api/v1/projects") =>
      sendRaw(app.url, get(path, "files.example.com", [`Authorization: Bearer ${app.owner.live}`, ...lines]));
    assert.equal((await call(["X-Forwarded-Proto: https", "X-Forwarded-For: 203.0.113.9"])).status, 200);
    assert.equal((await call(["X-Forwarded-Proto: https,https"])).status, 200);
    assert.equal((await call(["X-Forwarded-Proto: https", "X-Forwarded-Proto: https"])).status, 200);
    for (const list of ["https, http", "http, https", "https,", ""])
      expectPlainRefused(await call([`X-Forwarded-Proto: ${list}`]));
    expectPlainRefused(await call(["X-Forwarded-Proto: http", "X-Forwarded-For: 203.0.113.9"]));
    expectPlainRefused(await call(["X-Forwarded-For: 203.0.113.9"]));
    expectPlainRefused(await call(["X-Forwarded-Proto: HTTPS, http"]));
    expectPlainRefused(await call([]));
    const metrics = await call(["X-Forwarded-Proto: https"], "/metrics");
    expectError(metrics, 401, "UNAUTHORIZED");
  });
});

describe("TLS in the process", () => {
  let tls: SelfSigned;
  let app: TestApp;
  before(async () => {
    tls = await createSelfSigned();
    const env = { UPSTOW_TLS_CERT: tls.certPath, UPSTOW_TLS_KEY: tls.keyPath };
    app = await startApp({ env, keepRateLimits: true });
  });
  after(async () => {
    await app.close();
    await tls.remove();
  });
  async function callTls(headers: Record<string, string>): Promise<number> {
    const request = httpsRequest(`${app.url}/api/v1/projects`, { ca: tls.cert, headers, agent: false });
    request.end();
    const [response] = await once(request, "response");
    response.resume();
    await once(response, "end");
    return response.statusCode;
  }
  const plainUrl = () => app.url.replace("https:", "http:");

  it("serves any name, believes no forwarding header, and counts by the real address", async () => {
    const authorization = `Bearer ${app.owner.live}`;
    assert.equal(
      await callTls({ authorization, host: "files.example.com", "x-forwarded-proto": "http" }),
      200,
    );
    await spendAddress(app, "127.0.0.1", 100);
    const statuses: number[] = [];
    for (let i = 0; i <= 100; i++) statuses.push(await callTls({ "x-forwarded-for": `203.0.113.${i}` }));
    assert.deepEqual([statuses.at(-2), statuses.at(-1)], [401, 429]);
  });

  it("answers plain HTTP on the same port: probes, and a refusal for the rest", async () => {
    for (const path of ["/healthz", "/readyz"])
      assert.equal((await sendRaw(plainUrl(), get(path, "probe.example"))).status, 200);
    expectPlainRefused(await sendRaw(plainUrl(), get("/api/v1/projects", "files.example.com")));
    const garbage = await sendRaw(plainUrl(), "hello\r\n\r\n");
    assert.deepEqual([garbage.status, garbage.body.error.code], [400, "VALIDATION_ERROR"]);
  });

  it("survives broken and old handshakes", async () => {
    const broken = await openSocket(plainUrl());
    broken.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0xff, 0xff, 0xff, 0xff]));
    broken.resume();
    await once(broken, "close");
    const old = connectTls({
      port: Number(new URL(app.url).port),
      host: "127.0.0.1",
      ca: tls.cert,
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
      ciphers: "ALL@SECLEVEL=0",
    });
    const [error] = await once(old, "error").catch((reason) => [reason]);
    assert.match(String((error as Error).message), /version|handshake|alert/i);
    assert.equal(await callTls({ authorization: `Bearer ${app.owner.live}` }), 200);
  });

  it("serves a renewed certificate without a restart, and the former one while the new files do not fit", {
    timeout: 60_000,
  }, async (t) => {
    const [former, renewed] = [await createSelfSigned(), await createSelfSigned()];
    const env = { UPSTOW_TLS_CERT: former.certPath, UPSTOW_TLS_KEY: former.keyPath };
    const other = await startApp({ env, certificateLookMs: 20 });
    t.after(() => Promise.all([other.close(), former.remove(), renewed.remove()]));
    const connectTo = ({ cert }: SelfSigned) =>
      connectTls({ port: Number(new URL(other.url).port), host: "127.0.0.1", ca: cert });
    const isServed = async (certificate: SelfSigned) => {
      const socket = connectTo(certificate);
      const isTrusted = await once(socket, "secureConnect").then(
        () => true,
        () => false,
      );
      socket.destroy();
      return isTrusted;
    };
    const logged = async (words: RegExp) => {
      while (!other.logLines.some((line) => words.test(line)))
        await sleep(10, undefined, { signal: t.signal });
    };
    const open = connectTo(former);
    await once(open, "secureConnect");

    await writeFile(former.certPath, "half a certif");
    await logged(/UPSTOW_TLS_CERT must be a PEM file/);
    await copyFile(renewed.certPath, former.certPath);
    await logged(/UPSTOW_TLS_KEY does not match/);
    assert.deepEqual([await isServed(former), await isServed(renewed)], [true, false]);

    await copyFile(renewed.keyPath, former.keyPath);
    await logged(/the certificate was renewed/);
    assert.deepEqual([await isServed(former), await isServed(renewed)], [false, true]);
    open.write(get("/healthz", "localhost"));
    assert.equal((await readAnswer(open)).status, 200);
    open.destroy();
  });

  it("closes at once, with idle connections of every kind open", async () => {
    const env = { UPSTOW_TLS_CERT: tls.certPath, UPSTOW_TLS_KEY: tls.keyPath };
    const other = await startApp({ env });
    const url = other.url.replace("https:", "http:");
    const silent = await openSocket(url);
    const plain = await openSocket(url);
    plain.write(get("/healthz", "localhost"));
    await readAnswer(plain);
    const port = Number(new URL(url).port);
    const secure = connectTls({ port, host: "127.0.0.1", ca: tls.cert });
    await once(secure, "secureConnect");
    const closed = [silent, plain, secure].map((socket) => once(socket.resume(), "close"));
    await other.close();
    await Promise.all(closed);
  });
});
