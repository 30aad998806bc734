import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readConfig } from "../src/config.ts";
import { startApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

/** The variables that the contract names, the clients' two included. */
const variables = `
UPSTOW_HOST UPSTOW_PORT UPSTOW_DATA_DIR UPSTOW_PUBLIC_URL UPSTOW_CDN_URL UPSTOW_DATABASE_URL UPSTOW_S3_BUCKET
UPSTOW_S3_ENDPOINT UPSTOW_S3_REGION UPSTOW_S3_ACCESS_KEY_ID UPSTOW_S3_SECRET_ACCESS_KEY UPSTOW_S3_FORCE_PATH_STYLE
UPSTOW_REDIS_URL UPSTOW_SECRET UPSTOW_TLS_CERT UPSTOW_TLS_KEY UPSTOW_TRUSTED_PROXIES UPSTOW_WEBHOOK_ALLOW_CIDRS
UPSTOW_WEBHOOK_RETRY_BASE_MS UPSTOW_STORAGE_ALLOW_CIDRS UPSTOW_ALLOWED_ORIGINS UPSTOW_METRICS_TOKEN UPSTOW_LOG_LEVEL
UPSTOW_RATE_LIMITS UPSTOW_HTTP_FROM UPSTOW_HSTS UPSTOW_URL UPSTOW_API_KEY`;

describe("operation as the contract states it", () => {
  it("knows every variable by its name", () => {
    const names = variables.trim().split(/\s+/);
    assert.equal(names.length, 28);
    const empty = Object.fromEntries(names.map((name) => [name, ""]));
    assert.deepEqual(readConfig({ ...empty, UPSTOW_TYPO: "x" }).unknownVariables, ["UPSTOW_TYPO"]);
  });

  it("puts UPSTOW_CDN_URL in front of every URL of a file, and serves the same paths itself", async (t) => {
    const cdn = "https://cdn.example.com";
    const app = await startApp({ env: { UPSTOW_CDN_URL: cdn } });
    t.after(() => app.close());
    const client = createUploadClient(app, app.owner.live);
    const { cdnUrl, key } = await client.request();
    assert.equal(cdnUrl, `${cdn}/f/${key}`);
    const file = await client.upload();
    assert.equal(file.url, `${cdn}/f/${file.key}`);
    assert.equal((await client.list("?limit=1")).body.files[0].url, file.url);
    assert.equal(await (await fetch(app.url + new URL(file.url).pathname)).text(), smallBody.toString());
  });

  it("puts X-Request-Id on every answer, of files, uploads, pages and probes too", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    const client = createUploadClient(app, app.owner.live);
    const file = await client.upload();
    const { uploadUrl } = await client.request();
    const paths = [
      "/",
      "/docs",
      "/dashboard",
      "/healthz",
      "/readyz",
      "/metrics",
      "/nowhere",
      "/p/x",
      "/t/1/2/3/4",
    ];
    const answers: [string, string][] = [
      ...[...paths, "/api/v1/mcp/health", "/api/v1/files"].map((path): [string, string] => [
        "GET",
        app.url + path,
      ]),
      // The second one comes from memory.
      ...["GET", "GET", "HEAD", "OPTIONS", "PUT"].map((method): [string, string] => [method, file.url]),
      // A bucket answers for itself.
      ...(onDisk ? ["PUT", "OPTIONS", "GET"] : []).map((method): [string, string] => [method, uploadUrl]),
    ];
    for (const [method, url] of answers) {
      const { headers, status } = await fetch(url, { method });
      assert.match(headers.get("x-request-id") ?? "", /^[\w.-]{1,64}$/, `${method} ${url}: ${status}`);
    }
  });

  it("serves the pages", async (t) => {
    const app = await startApp();
    t.after(() => app.close());
    for (const path of ["/", "/dashboard", "/docs", "/components"]) {
      const page = await fetch(app.url + path);
      assert.equal(page.status, 200, path);
      assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    }
    const welcome = await (await fetch(app.url)).text();
    for (const link of ["/dashboard", "/docs", "/components"])
      assert.ok(welcome.includes(`href="${link}"`), link);
  });
});
