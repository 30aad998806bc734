import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ADDRESS_LIMITS } from "@upstow/contract";
import { startApp, type TestApp } from "./support/start-app.ts";

const toolNames = [
  "list_components",
  "get_component",
  "search_components",
  "get_install_command",
  "scaffold_route_handler",
  "scaffold_provider",
  "get_byos_config",
  "get_quickstart",
  "search_docs",
  "get_doc",
  "list_docs",
];

describe("the tool-protocol endpoint", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ env: { UPSTOW_ALLOWED_ORIGINS: "https://agent.example" } });
  });
  after(() => app.close());

  /** Answers come as one JSON body or as a stream of events; both hold one message. */
  async function rpc(
    method: string,
    params: object = {},
    headers: Record<string, string> = {},
    signal: AbortSignal | null = null,
  ) {
    const response = await fetch(`${app.url}/api/v1/mcp`, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const text = await response.text();
    const message = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "{}");
    const allowedOrigin = response.headers.get("access-control-allow-origin");
    return { status: response.status, allowedOrigin, body: JSON.parse(message) };
  }
  const callTool = async (name: string, args: object = {}) =>
    (await rpc("tools/call", { name, arguments: args })).body.result;

  it("says how it is, with the number of tools it really has", async () => {
    const { status, body } = await app.call("GET", "mcp/health");
    assert.deepEqual([status, body.status, body.tools], [200, "ok", 11]);
    assert.deepEqual(Object.keys(body).sort(), ["status", "tools", "version"]);
    assert.match(body.version, /^\d+\.\d+\.\d+$/);
  });

  it("shakes hands without a key and lists eleven read-only tools and three resources", async () => {
    const clientInfo = { name: "test", version: "1" };
    const hello = await rpc("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    assert.equal(hello.body.result.serverInfo.name, "upstow");
    const { tools } = (await rpc("tools/list")).body.result;
    assert.deepEqual(
      tools.map((tool: { name: string }) => tool.name),
      toolNames,
    );
    assert.ok(
      tools.every((tool: { annotations: { readOnlyHint: boolean } }) => tool.annotations.readOnlyHint),
    );
    const { resources } = (await rpc("resources/list")).body.result;
    assert.deepEqual(
      resources.map((resource: { uri: string; mimeType: string }) => [resource.uri, resource.mimeType]),
      [
        ["upstow://catalog", "application/json"],
        ["upstow://quickstart", "text/markdown"],
        ["upstow://docs", "application/json"],
      ],
    );
    for (const { uri } of resources) {
      const { contents } = (await rpc("resources/read", { uri })).body.result;
      assert.ok(contents[0].text.length > 100, uri);
    }
  });

  it("answers every tool with something to work with", async () => {
    const { components } = (await callTool("list_components")).structuredContent;
    assert.ok(components.length >= 24);
    const [first] = components;
    const { component } = (await callTool("get_component", { name: first.name })).structuredContent;
    assert.ok(component.usage.includes(first.name) && component.props.length > 0);
    const found = (await callTool("search_components", { query: "dropzne" })).structuredContent.components;
    assert.ok(found.some((entry: { category: string }) => entry.category === "dropzone"));
    const at = `${app.app.deps.config.publicUrl}/packages`;
    const install = await callTool("get_install_command", {
      packageManager: "pnpm",
      packages: ["@upstow/sdk"],
    });
    assert.equal(install.content[0].text, `pnpm add ${at}/sdk.tgz`);
    const usual = await callTool("get_install_command");
    assert.equal(usual.content[0].text, `npm install ${at}/sdk.tgz ${at}/react.tgz`);
    const forUppy = await callTool("get_install_command", { packages: ["@upstow/uppy"] });
    assert.equal(forUppy.content[0].text, `npm install ${at}/sdk.tgz ${at}/uppy.tgz`);
    const inBytes = await callTool("scaffold_route_handler", { routeName: "avatar", maxFileSize: 2_097_152 });
    assert.match(inBytes.structuredContent.code, /maxFileSize: 2097152,/);
    for (const framework of ["next", "express", "fastify", "hono", "sveltekit"]) {
      const options = { framework, routeName: "avatar", maxFileSize: "2MB", allowedTypes: ["image/*"] };
      const { code, path } = (await callTool("scaffold_route_handler", options)).structuredContent;
      assert.ok(path.endsWith(".ts") && code.includes(`@upstow/sdk/${framework}`) && code.includes('"2MB"'));
      const hidden = { ...options, access: "private" };
      const { readHandler } = (await callTool("scaffold_route_handler", hidden)).structuredContent;
      assert.ok(readHandler.path.endsWith(".ts") && readHandler.code.includes("createReadHandler"));
    }
    assert.ok((await callTool("scaffold_provider")).structuredContent.code.includes("UpstowProvider"));
    for (const provider of ["s3", "r2", "gcs", "b2", "minio"]) {
      const { env, cors } = (await callTool("get_byos_config", { provider })).structuredContent;
      assert.ok(env.UPSTOW_S3_BUCKET && JSON.stringify(cors).includes("ETag"));
    }
    assert.match((await callTool("get_quickstart")).content[0].text, /^# Quick start/);
    const { results } = (await callTool("search_docs", { query: "restore a backup", limit: 3 }))
      .structuredContent;
    assert.equal(results[0].path, "backup-and-restore");
    const { pages } = (await callTool("list_docs")).structuredContent;
    const page = await callTool("get_doc", { path: pages[0].path });
    assert.ok(page.content[0].text.startsWith("# "));
  });

  it("takes a notification without a word", async () => {
    const response = await fetch(`${app.url}/api/v1/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    });
    assert.deepEqual([response.status, response.headers.get("content-type")], [202, null]);
    assert.equal(await response.text(), "");
  });

  it("ends the wait for changes that never come, which would hold up a shutdown", async () => {
    const revision = "2026-07-28";
    const about = {
      protocolVersion: revision,
      clientInfo: { name: "test", version: "1" },
      clientCapabilities: {},
    };
    const named = Object.entries(about).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value]);
    const { status, body } = await rpc(
      "subscriptions/listen",
      {
        notifications: { toolsListChanged: true, resourcesListChanged: true },
        _meta: Object.fromEntries(named),
      },
      { "mcp-protocol-version": revision, "mcp-method": "subscriptions/listen" },
      AbortSignal.timeout(60_000),
    );
    assert.deepEqual([status, body.params.notifications], [200, {}]);
  });

  it("makes a wrong argument and an unknown name a tool error", async () => {
    for (const [name, args] of [
      ["get_component", {}],
      ["get_component", { name: "Nope" }],
      ["list_components", { category: "nope" }],
      ["scaffold_route_handler", { framework: "rails", routeName: "a" }],
      ["scaffold_route_handler", { routeName: 'x", evil: "' }],
      ["scaffold_route_handler", { routeName: "a", maxFileSize: "huge" }],
      ["scaffold_route_handler", { routeName: "a", maxFileSize: 1.5 }],
      // It would compile, and refuse every file.
      ["scaffold_route_handler", { routeName: "a", allowedTypes: ["*/png"] }],
      ["scaffold_route_handler", { routeName: "a", access: "secret" }],
      ["get_byos_config", { provider: "ftp" }],
      ["get_doc", { path: "../package" }],
      ["search_docs", { query: "x", limit: 0 }],
      // Searching for a word of this length would take a gigabyte, for many of them minutes.
      ["search_docs", { query: "a".repeat(30_000) }],
      ["search_components", { query: "a".repeat(30_000) }],
      ["get_component", { name: "a".repeat(30_000) }],
      ["get_doc", { path: "a".repeat(30_000) }],
    ] as const) {
      const { isError, content } = await callTool(name, args);
      assert.equal(isError, true, `${name} ${JSON.stringify(args).slice(0, 100)}`);
      assert.ok(content[0].text.length < 300, `${name} repeats what it was given`);
    }
  });

  it("counts every message of a batch to the limit of its address", async (t) => {
    const limited = await startApp({ keepRateLimits: true });
    t.after(() => limited.close());
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
    const send = async (body: object) => {
      const accept = "application/json, text/event-stream";
      return (await limited.call("POST", "mcp", { body, headers: { accept } })).status;
    };
    const batch = Array.from({ length: ADDRESS_LIMITS.toolProtocol / 3 }, (_, i) => ping(i));
    assert.deepEqual([await send(batch), await send(batch), await send(batch.slice(1))], [200, 200, 200]);
    assert.deepEqual([await send(batch.slice(0, 2)), await send(ping(1))], [429, 429]);
  });

  it("takes POST alone, and no other site's pages", async () => {
    for (const method of ["GET", "DELETE"]) {
      const { status, headers } = await app.call(method, "mcp");
      assert.deepEqual([status, headers.get("allow")], [405, "POST, OPTIONS"]);
    }
    assert.equal((await rpc("tools/list", {}, { origin: "https://evil.example" })).status, 403);
    assert.equal((await rpc("tools/list", {}, { origin: app.url })).status, 200);
  });

  it("lets pages of the origins that are named ask, call and read", async () => {
    const ask = async (origin: string) => {
      const headers = {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-protocol-version",
      };
      const { status, headers: answered } = await fetch(`${app.url}/api/v1/mcp`, {
        method: "OPTIONS",
        headers,
      });
      const names = ["origin", "methods", "headers"].map((name) => `access-control-allow-${name}`);
      return [status, ...names.map((name) => answered.get(name))];
    };
    const origin = "https://agent.example";
    assert.deepEqual(await ask(origin), [204, origin, "POST", "*, Authorization"]);
    assert.deepEqual(await ask("https://evil.example"), [403, null, null, null]);
    const { headers } = await app.call("GET", "mcp/health", { headers: { origin } });
    assert.deepEqual([headers.get("access-control-allow-origin"), headers.get("vary")], [origin, "Origin"]);
    const called = await rpc("tools/list", {}, { origin });
    assert.deepEqual([called.status, called.allowedOrigin], [200, origin]);
  });
});

describe("the pages of the service", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("show a welcome, every page of the navigation and a search, all under a strict policy", async () => {
    for (const path of ["/", "/docs", "/docs/configuration", "/docs/search?q=webhook"]) {
      const response = await fetch(app.url + path);
      assert.equal(response.status, 200, path);
      assert.match(
        response.headers.get("content-security-policy") ?? "",
        new RegExp(`default-src 'none'; script-src ${new URL(app.url).host}/assets/; style-src`),
      );
      const html = await response.text();
      assert.ok(html.startsWith("<!doctype html>"), path);
      assert.ok(!/<[^>]+ (?:style|on[a-z]+)=/.test(html), path);
      assert.ok(html.match(/<(?:script|img|link)\b[^>]*https?:/) === null, path);
    }
    const links = [...(await (await fetch(`${app.url}/docs`)).text()).matchAll(/href="(\/docs\/[^"#]+)"/g)];
    assert.ok(links.length > 4);
    for (const [, path] of links) assert.equal((await fetch(app.url + path)).status, 200, path);
    assert.equal((await fetch(`${app.url}/docs/nope`)).status, 404);
    const found = await app.call("GET", "/docs/search.json?q=postgres");
    assert.ok(found.body.results.length > 0);
  });
});
