import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import sharp from "sharp";
import { setCdnUrl } from "../src/projects/cdn-domain/cdn-domain.ts";
import { signInAs } from "./support/console-client.ts";
import { expectError } from "./support/expect-error.ts";
import { type RawAnswer, sendRaw } from "./support/raw-http.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import { uploadFile } from "./support/upload.ts";
import { type Certificate, createCertificate, trustCertificate } from "./support/webhooks/certificate.ts";
import { startReceiver } from "./support/webhooks/receiver.ts";
import { until } from "./support/webhooks/until.ts";

let certificate: Certificate;
before(async () => {
  certificate = await createCertificate(["localhost"]);
  trustCertificate(certificate);
});

onAnyDatabase("a custom domain", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let other: Tenant;
  const host = "files.customer.example";
  before(async () => {
    app = await startApp({
      database,
      env: {
        UPSTOW_TRUSTED_PROXIES: "127.0.0.1",
        UPSTOW_PUBLIC_URL: "https://upstow.example",
        UPSTOW_CDN_URL: "https://cdn.upstow.example:8443",
        UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      },
    });
    tenant = await app.createTenant("pro");
    other = await app.createTenant("pro");
    await bind(tenant, `https://${host}`);
  });
  after(() => app.close());

  const bind = ({ projectId }: Tenant, cdnUrl: string | null) =>
    app.app.deps.db.change(setCdnUrl, { projectId, cdnUrl, now: app.clock.now() });

  function ask(path: string, name = host, method = "GET", lines: string[] = []): Promise<RawAnswer> {
    const head = [`${method} ${path} HTTP/1.1`, `Host: ${name}`, "X-Forwarded-Proto: https", ...lines];
    return sendRaw(app.url, `${head.join("\r\n")}\r\n\r\n`);
  }

  const askHead = (path: string) =>
    app.call("HEAD", path, { headers: { "x-forwarded-proto": "https", "x-forwarded-host": host } });

  async function upload(owner: Tenant) {
    const image = sharp({ create: { width: 9, height: 9, channels: 3, background: "#37a" } });
    const bytes = await image.png().toBuffer();
    const call = (method: string, path: string, options = {}) =>
      app.call(method, path, { ...options, headers: { "x-forwarded-proto": "https" } });
    const file = await uploadFile(
      { call: async (method, path, options) => atApp(await call(method, path, options)) },
      bytes,
      { key: owner.live, name: "a.png", type: "image/png" },
    );
    const body = { key: file.key, width: 5, format: "webp" };
    const urls = [`/f/${file.key}`];
    for (const delivery of ["public", "signed"]) {
      const made = await call("POST", "transforms/image", { key: owner.live, body: { ...body, delivery } });
      urls.push(new URL(made.body.url).pathname);
    }
    const { links } = (await call("POST", "files/links", { key: owner.live, body: { keys: [file.key] } }))
      .body;
    const scope = { routeSlug: "default" };
    const { grant } = (await call("POST", "files/grants", { key: owner.live, body: scope })).body;
    urls.push(new URL(links[0].url).pathname, `${new URL(grant.baseUrl).pathname}/${file.key}`);
    return { key: file.key as string, urls };
  }

  /** Upload URLs name the public host, which only a proxy would lead here. */
  function atApp<T extends { body: { uploadUrl?: string } }>(answer: T): T {
    const { uploadUrl } = answer.body;
    if (uploadUrl?.startsWith("https://upstow.example/"))
      answer.body.uploadUrl = uploadUrl.replace("https://upstow.example", app.url);
    return answer;
  }

  it("serves files and variants of its own project, and of no other", async () => {
    const [own, foreign] = [await upload(tenant), await upload(other)];
    const unknown = await ask(`/f/${tenant.projectId}/default/none/a.png`);
    expectError(unknown, 404, "NOT_FOUND");
    for (const path of own.urls) {
      assert.equal((await ask(path)).status, 200, path);
      assert.equal((await askHead(path)).status, 200, path);
      assert.equal((await ask(path, host, "OPTIONS")).status, 204, path);
    }
    for (const path of foreign.urls) {
      const refused = await ask(path);
      expectError(refused, 404, "NOT_FOUND");
      if (path.startsWith("/f/")) assert.deepEqual(refused.body, unknown.body);
      assert.equal((await askHead(path)).status, 404, path);
      for (const name of ["upstow.example", "cdn.upstow.example:8443", "cdn.upstow.example", "10.1.2.3"])
        assert.equal((await ask(path, name)).status, 200, `${name}${path}`);
    }
  });

  it("knows the host however it is spelt, and as the proxy names it", async () => {
    for (const name of [host.toUpperCase(), `${host}:443`, `${host}.`])
      expectError(await ask("/docs", name), 404, "NOT_FOUND");
    expectError(await ask("/docs", "upstow.example", "GET", [`X-Forwarded-Host: ${host}`]), 404, "NOT_FOUND");
    assert.equal((await ask("/docs", host, "GET", ["X-Forwarded-Host: upstow.example"])).status, 200);
  });

  it("serves neither API nor pages, only health probes beside the files", async () => {
    const key = `Authorization: Bearer ${tenant.live}`;
    for (const path of [
      "/",
      "/docs",
      "/dashboard",
      "/dashboard/assets/x.js",
      "/dashboard/api/session",
      "/components",
      "/assets/site.css",
      "/metrics",
      "/api/v1/projects",
      "/api/v1/openapi.json",
      "/api/v1/mcp/health",
      "/nowhere",
    ]) {
      expectError(await ask(path, host, "GET", [key]), 404, "NOT_FOUND");
    }
    const write = ["Content-Type: application/json", "Content-Length: 0", key];
    for (const [method, path] of [
      ["POST", "/api/v1/upload/request"],
      ["POST", "/api/v1/mcp"],
      ["POST", "/dashboard/api/sign-in"],
      ["PUT", "/upload/anything"],
      ["DELETE", `/f/${tenant.projectId}/x`],
    ] as const) {
      expectError(await ask(path, host, method, write), 404, "NOT_FOUND");
    }
    for (const path of ["/healthz", "/readyz"]) assert.equal((await ask(path)).status, 200);
    assert.equal((await ask("/f/cdn-check/nonce")).status, 200, "the check asks through the domain");
  });

  it("is bound on every instance within moments, and stays so when its project is deleted", {
    timeout: 30_000,
  }, async () => {
    const third = await app.createTenant("pro");
    const { urls } = await upload(third);
    const name = "late.customer.example";
    assert.equal((await ask("/docs", name)).status, 200);
    // As another instance would have written it.
    await bind(third, `https://${name}`);
    await until(async () => (await ask("/docs", name)).status === 404);
    const deleted = await app.call("DELETE", `projects/${third.projectId}`, {
      key: third.live,
      headers: { "x-forwarded-proto": "https" },
    });
    assert.equal(deleted.status, 200);
    expectError(await ask("/docs", name), 404, "NOT_FOUND");
    for (const path of urls) assert.equal((await ask(path, name)).status, 200);
    const heir = await app.createTenant("pro");
    await bind(heir, `https://${name}`);
    await until(async () => (await ask(urls[0] ?? "", name)).status === 404);
  });

  it("belongs to one project, and is never the installation's own host", async (t) => {
    const cdn = await startReceiver(certificate);
    t.after(() => cdn.close());
    cdn.answer = async ({ path }, response) => {
      const answer = await fetch(app.url + path, {
        headers: { "x-forwarded-proto": "https", "x-forwarded-host": `localhost:${cdn.port}` },
      });
      response.end(await answer.text());
    };
    const set = async ({ accountId, projectId }: Tenant, domain: string) => {
      const call = await signInAs(app, accountId, "https://upstow.example");
      return call("PUT", `/projects/${projectId}/cdn-domain`, { domain });
    };
    const domain = `localhost:${cdn.port}`;
    assert.equal((await ask("/docs", domain)).status, 200);
    assert.deepEqual((await set(tenant, domain)).body, { ownUrl: `https://${domain}` });
    expectError(await ask("/docs", domain), 404, "NOT_FOUND");
    const refused = await set(other, domain);
    expectError(refused, 400, "VALIDATION_ERROR");
    assert.match(refused.body.error.message, /another project/);
    assert.equal((await set(tenant, domain)).status, 200, "its own project may set it again");
    for (const own of ["upstow.example", "https://UPSTOW.example:444", "cdn.upstow.example:8443"]) {
      const answer = await set(other, own);
      assert.match(answer.body.error.message, /installation's own/);
    }
  });
});
