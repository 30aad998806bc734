import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { it, type TestContext } from "node:test";
import sharp from "sharp";
import { readConfig } from "../src/config.ts";
import { createPrivateReader } from "./support/private-reader.ts";
import { callApi, onAnyDatabase, startApp } from "./support/start-app.ts";
import { openStoredObjects } from "./support/stored-objects.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";
import { createCertificate, trustCertificate } from "./support/webhooks/certificate.ts";
import { startReceiver } from "./support/webhooks/receiver.ts";

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code?: number };
  attributes: { key: string; value: Record<string, unknown> }[];
}

/** Takes spans as an OpenTelemetry collector does. */
async function startCollector(t: TestContext, status = 200) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    assert.equal(request.url, "/v1/traces");
    bodies.push(await text(request));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    spans: (): OtlpSpan[] =>
      bodies
        .flatMap((body) => JSON.parse(body).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
  };
}

const theirTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const theirSpan = "00f067aa0ba902b7";

onAnyDatabase("traces", (database) => {
  it("show a request with what it called, within the caller's trace, and go on to webhooks", async (t) => {
    const collector = await startCollector(t);
    const certificate = await createCertificate();
    trustCertificate(certificate);
    const receiver = await startReceiver(certificate);
    t.after(() => receiver.close());
    const app = await startApp({
      database,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" },
    });
    t.after(() => app.close());
    const key = app.owner.live;
    const hooked = { slug: "hooked", webhookUrl: `${receiver.url}/hook` };
    await app.call("POST", `projects/${app.owner.projectId}/routers`, { key, body: hooked });
    const { body } = await callApi(app.url, "POST", "upload/request", {
      key,
      body: {
        fileName: "a.txt",
        fileSize: smallBody.length,
        contentType: "text/plain",
        routeSlug: "hooked",
      },
      headers: { traceparent: `00-${theirTrace}-${theirSpan}-01` },
    });
    const { uploadUrl, fileId } = body;
    const put = await fetch(uploadUrl, {
      method: "PUT",
      body: smallBody,
      headers: { "content-type": "text/plain" },
    });
    assert.equal(put.status, 200);
    assert.equal((await app.call("POST", "upload/complete", { key, body: { fileId } })).status, 200);
    await receiver.waitFor(1);
    await app.call("GET", "/readyz");
    await app.close();

    const spans = collector.spans();
    const server = spans.find(({ name }) => name === "POST /api/v1/upload/request");
    assert.deepEqual([server?.traceId, server?.parentSpanId], [theirTrace, theirSpan]);
    const wanted = database === "sqlite" ? "database commit" : "database insert";
    const called = spans.filter(({ parentSpanId }) => parentSpanId === server?.spanId);
    if (database === "postgres") assert.ok(called.some(({ name }) => name === wanted));
    const line = app.logLines.find((each) => each.includes("upload/request"));
    assert.equal(JSON.parse(line ?? "{}").traceId, theirTrace);

    const sent = spans.find(({ name }) => name === "webhook POST");
    const carried = String(receiver.received[0]?.headers["traceparent"]);
    assert.equal(carried, `00-${sent?.traceId}-${sent?.spanId}-01`);
    assert.ok(!spans.some(({ name }) => name.includes("readyz")), "probes are left out");
    assert.ok(!collector.bodies.join().includes(new URL(uploadUrl).pathname), "no signed path");
  });

  it("and logs have no token of a private file, whatever comes of its read", async (t) => {
    const collector = await startCollector(t);
    const app = await startApp({ database, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
    t.after(() => app.close());
    const tenant = await app.createTenant("pro");
    const client = createUploadClient(app, tenant.live);
    const reader = createPrivateReader(client);
    const picked = { contentType: "image/png", fileName: "a.png", access: "private" } as const;
    const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background: "#37a" } })
      .png()
      .toBuffer();
    const { key } = await client.upload(picture, picked);
    const shrink = { key, width: 5, format: "webp", delivery: "signed" };
    const urls = [
      await reader.linkTo(key),
      await reader.linkTo(key, { maxUses: 1 }),
      `${await reader.grant({ routeSlug: "default", subject: "ann" })}/${key}`,
      (await client.post("transforms/image", shrink)).body.url,
    ];
    const readAll = () => Promise.all(urls.map(async (url) => (await fetch(url)).status));
    assert.deepEqual(await readAll(), [200, 200, 200, 200]);
    const damaged = await client.upload(Buffer.alloc(100_000, 1), { access: "private" });
    urls.push(await reader.linkTo(damaged.key));
    await openStoredObjects(app).remove(`private/${damaged.key}`);
    assert.deepEqual(await readAll(), [200, 403, 200, 200, 500]);
    await reader.revoke({ all: true });
    assert.deepEqual(await readAll(), [403, 403, 403, 403, 403]);
    for (const url of urls) await fetch(`${url.slice(0, -5)}x`);
    const logs = JSON.stringify((await app.call("GET", "logs?limit=100", { key: tenant.live })).body);
    await app.close();

    const signatures = urls.map((url) => /[\w-]{43}(?=\/)/.exec(url)?.[0] ?? "none");
    const written = [...app.logLines, ...collector.bodies, logs].join("\n");
    for (const route of ["/s/:token/:name", "/g/:token/*", "/t/:expires/:signature/:recipe/*"])
      assert.ok(written.includes(route), route);
    for (const signature of signatures) assert.ok(!written.includes(signature), signature);
  });
});

it("traces are off unless a collector is named", () => {
  const read = (env: Record<string, string>) => readConfig(env).tracing;
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
  assert.equal(read({}), null);
  assert.deepEqual(read(endpoint), { url: "http://collector:4318/v1/traces", sampleRatio: 1 });
  assert.equal(read({ ...endpoint, OTEL_SDK_DISABLED: "true" }), null);
  assert.equal(read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: "0.1" })?.sampleRatio, 0.1);
  assert.throws(() => read({ ...endpoint, OTEL_TRACES_SAMPLER_ARG: "2" }), /must be a number from 0 to 1/);
});

it("a collector that takes nothing is named in the log, and stops nobody", async (t) => {
  const collector = await startCollector(t, 400);
  const app = await startApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  assert.equal((await app.call("GET", "projects", { key: app.owner.live })).status, 200);
  await app.close();
  assert.ok(collector.bodies.length > 0);
  assert.equal(app.logLines.filter((line) => line.includes("traces cannot be sent")).length, 1);
});

it("a collector that is away does not hold up the end", async () => {
  const app = await startApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" } });
  assert.equal((await app.call("GET", "projects", { key: app.owner.live })).status, 200);
  await app.close();
});
