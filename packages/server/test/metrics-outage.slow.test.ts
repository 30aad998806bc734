import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { readConfig } from "../src/config.ts";
import { createMigratedDatabase } from "./support/migrated-database.ts";
import { sendRaw } from "./support/raw-http.ts";
import { startSilentNetwork } from "./support/silent-network.ts";
import { type StartOptions, startApp, type TestApp } from "./support/start-app.ts";
import { startPair } from "./support/start-pair.ts";

const get = (path: string, host: string, lines: string[] = []) =>
  `${[`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join("\r\n")}\r\n\r\n`;

const queueDepth = /^upstow_webhook_queue_depth\{state="ready"\} \d+$/m;
const ownFigures = [
  /^upstow_http_request_duration_seconds_count\{/m,
  /^upstow_process_resident_memory_bytes \d/m,
  /^upstow_cut_connections_total\{side="sender"\} 0$/m,
];

async function startBehindNetwork(t: TestContext, options: StartOptions = {}) {
  const { url, drop } = await createMigratedDatabase();
  t.after(drop);
  const network = await startSilentNetwork(t, url);
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-outage-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const reuse = { dataDir, databaseUrl: network.url };
  const app = await startApp({ ...options, database: "postgres", reuse });
  t.after(() => app.close());
  return { app, network };
}

async function scrape(app: TestApp, url = app.url): Promise<string> {
  const answer = await fetch(`${url}/metrics`);
  assert.equal(answer.status, 200);
  return answer.text();
}

describe("metrics", () => {
  it("tell all the process knows while the database is silent, and the rest when it is back", async (t) => {
    const { app, network } = await startBehindNetwork(t);
    await app.call("GET", "/healthz");
    assert.match(await scrape(app), queueDepth);
    network.setSilent(true);
    const during = await scrape(app);
    for (const figure of ownFigures) assert.match(during, figure);
    assert.match(during, /^upstow_dependency_up\{dependency="database"\} 0$/m);
    assert.match(during, /^upstow_dependency_up\{dependency="storage"\} 1$/m);
    const probed = await app.call("GET", "/readyz");
    assert.deepEqual([probed.status, probed.body.error.message], [503, "Not ready: database unavailable."]);
    assert.doesNotMatch(during, /^upstow_webhook_(queue_depth|oldest_due_seconds|failing_endpoints)\b/m);
    network.setSilent(false);
    while (!queueDepth.test(await scrape(app)));
  });

  it("and the probe of a living process answer whatever host they are asked for", async (t) => {
    const env = { UPSTOW_METRICS_TOKEN: "scrape-me", UPSTOW_HTTP_FROM: "127.0.0.0/8" };
    const { app, network } = await startBehindNetwork(t, { env });
    network.setSilent(true);
    const token = "Authorization: Bearer scrape-me";
    // A host that is not the installation's own used to be looked up in the database.
    assert.equal((await sendRaw(app.url, get("/metrics", "pod.internal:4000", [token]))).status, 200);
    assert.equal((await sendRaw(app.url, get("/healthz", "10.1.2.3:4000"))).status, 200);
  });

  it("of all instances together are told by one of them", async (t) => {
    const { apps, close } = await startPair();
    t.after(close);
    for (let round = 0; round < 3; round++) {
      const told = await Promise.all(apps.map((app) => scrape(app)));
      assert.equal(told.filter((text) => queueDepth.test(text)).length, 1);
    }
    assert.match(await scrape(apps[0]), queueDepth, "by the same one as before");
  });

  it("have a listener of their own, for private networks", async (t) => {
    const at = `127.0.0.1:${await pickFreePort()}`;
    const app = await startApp({ env: { UPSTOW_METRICS_ADDRESS: at } });
    t.after(() => app.close());
    const url = `http://${at}`;
    assert.match(await scrape(app, url), /^upstow_process_cpu_seconds_total \d/m);
    assert.equal((await sendRaw(url, get("/metrics", "any.name.example"))).status, 200);
    assert.equal((await sendRaw(url, get("/metrics", "x", ["X-Forwarded-For: 203.0.113.7"]))).status, 403);
    assert.equal((await fetch(`${url}/api/v1/files`)).status, 404);
    assert.equal((await fetch(`${url}/metrics`, { method: "POST" })).status, 405);
    await assert.rejects(startApp({ env: { UPSTOW_METRICS_ADDRESS: at } }), /^ConfigError: UPSTOW_METRICS_/);
  });

  it("need the token there too where one is set", async (t) => {
    const at = `127.0.0.1:${await pickFreePort()}`;
    const env = { UPSTOW_METRICS_ADDRESS: at, UPSTOW_METRICS_TOKEN: "scrape-me" };
    const app = await startApp({ env });
    t.after(() => app.close());
    const headers = { authorization: "Bearer scrape-me" };
    assert.equal((await fetch(`http://${at}/metrics`)).status, 401);
    assert.equal((await fetch(`http://${at}/metrics`, { headers })).status, 200);
  });

  it("listen at no address that strangers reach", () => {
    const read = (address: string) => readConfig({ UPSTOW_METRICS_ADDRESS: address }).metricsAddress;
    assert.deepEqual(read("localhost:9464"), { host: "127.0.0.1", port: 9464 });
    assert.deepEqual(read("0.0.0.0:9464"), { host: "0.0.0.0", port: 9464 });
    assert.deepEqual(read("[fd00::1]:9464"), { host: "fd00::1", port: 9464 });
    for (const wrong of ["9464", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:70000", "8.8.8.8:1", "example.com:1"])
      assert.throws(() => read(wrong), { name: "ConfigError", message: /^UPSTOW_METRICS_ADDRESS must be / });
  });
});
