import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { uploadFile } from "../../server/test/support/upload.ts";
import packageJson from "../package.json" with { type: "json" };
import serverJson from "../server.json" with { type: "json" };
import { findApiDocument } from "../src/find-api-document.ts";
import { hostedTools } from "../src/index.ts";
import { judgeKey } from "../src/judge-key.ts";
import { openSources } from "../src/sources.ts";
import { createTransformTool } from "../src/transform-tool.ts";

const root = join(import.meta.dirname, "../../..");
/** As npm links it. */
const bin = join(root, "node_modules/.bin/upstow-mcp");
const names = hostedTools.map(({ name }) => name);

function startStdio(env: Record<string, string>, stderr: "ignore" | "pipe" = "ignore"): StdioClientTransport {
  const PATH = `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`;
  const { NODE_COMPILE_CACHE = "" } = process.env;
  return new StdioClientTransport({ command: bin, env: { PATH, NODE_COMPILE_CACHE, ...env }, stderr });
}

describe("the official client", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database: "sqlite" });
  });
  after(() => app.close());

  async function connect(transport: StreamableHTTPClientTransport | StdioClientTransport): Promise<Client> {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    return client;
  }
  const overHttp = () => connect(new StreamableHTTPClientTransport(new URL(`${app.url}/api/v1/mcp`)));
  const overStdio = (env: Record<string, string>) => connect(startStdio(env));
  const listNames = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

  for (const transport of ["HTTP", "stdio"]) {
    it(`lists, calls and reads over ${transport}`, async () => {
      const client = await (transport === "HTTP" ? overHttp() : overStdio({ UPSTOW_URL: app.url }));
      assert.equal(client.getServerVersion()?.name, "upstow");
      const { tools } = await client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        names,
      );
      for (const { name, description, inputSchema, annotations } of tools) {
        assert.ok((description?.length ?? 0) > 20 && annotations?.readOnlyHint, name);
        for (const property of Object.values(inputSchema.properties ?? {}))
          assert.ok("description" in (property as object) || name === "get_byos_config", name);
      }
      const found = await client.callTool({ name: "search_docs", arguments: { query: "presigned url" } });
      const { results } = found.structuredContent as { results: { path: string }[] };
      assert.ok(results.some(({ path }) => /^(guides|concepts|reference)\//.test(path)));
      const page = await client.callTool({ name: "get_doc", arguments: { path: "reference/api/uploads" } });
      assert.match(JSON.stringify(page.content), /INVALID_FILE_TYPE/);
      const wrong = await client.callTool({ name: "get_component", arguments: { name: "Nope" } });
      assert.equal(wrong.isError, true);
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ uri }) => uri),
        ["upstow://catalog", "upstow://quickstart", "upstow://docs"],
      );
      const [quickstart] = (await client.readResource({ uri: "upstow://quickstart" })).contents;
      assert.match(String(quickstart && "text" in quickstart && quickstart.text), /^# Quick start/);
      await client.close();
    });
  }

  it("needs neither a key nor a service over stdio", async () => {
    const client = await overStdio({ UPSTOW_URL: "http://127.0.0.1:9" });
    assert.deepEqual(await listNames(client), names);
    const page = await client.callTool({ name: "get_doc", arguments: { path: "guides/http" } });
    assert.equal(page.isError, undefined);
    await client.close();
  });

  async function listen(stack: AsyncDisposableStack, listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, "127.0.0.1");
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("takes neither a document nor a verdict from a server that is not the service", async () => {
    await using stack = new AsyncDisposableStack();
    for (const listener of [
      (_request, response) => response.setHeader("content-type", "text/html").end("<p>hello"),
      (_request, response) => response.end('{"ok":true}'),
    ] satisfies RequestListener[]) {
      const url = await listen(stack, listener);
      assert.equal(await findApiDocument(url), null);
      assert.equal((await judgeKey(url, "svc_live_any")).fit, "unknown");
    }
  });

  it("starts beside a server that does not answer", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await listen(stack, () => {});
    const client = await overStdio({ UPSTOW_URL: url, UPSTOW_API_KEY: "svc_live_any" });
    stack.defer(() => client.close());
    assert.deepEqual(await listNames(client), [...names, "transform_image"]);
  });

  it("gets transform_image with a paid plan's live key alone", async () => {
    const free = await app.createTenant("free");
    const pro = await app.createTenant("pro");
    for (const key of [free.live, pro.test, "svc_live_nonsense", `${pro.live}x`])
      assert.equal((await judgeKey(app.url, key)).fit, false, key);
    const transport = startStdio({ UPSTOW_URL: app.url, UPSTOW_API_KEY: free.live }, "pipe");
    const said = text(transport.stderr as Readable);
    const unpaid = await connect(transport);
    assert.deepEqual(await listNames(unpaid), names);
    await unpaid.close();
    assert.match(await said, /transform_image is not offered: .*not a live key of an account on a paid plan/);
    const client = await overStdio({ UPSTOW_URL: `${app.url}/`, UPSTOW_API_KEY: pro.live });
    assert.deepEqual(await listNames(client), [...names, "transform_image"]);
    const offered = (await client.listTools()).tools.find(({ name }) => name === "transform_image");
    assert.deepEqual(
      Object.keys(offered?.inputSchema.properties ?? {}),
      [
        ...["key", "width", "height", "fit", "quality", "format"],
        ...["gravity", "background", "blur", "rotate", "delivery"],
      ],
      "the API key comes from the environment",
    );
    // It spends units, so a client must not call it unasked. The same variant again costs nothing.
    assert.deepEqual(offered?.annotations, {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    const page = await client.callTool({ name: "get_doc", arguments: { path: "reference/api/uploads" } });
    assert.equal(page.isError, undefined, "a slash at the end of the address changes nothing");
    const image = readFileSync(join(root, "packages/mcp/test/dot.png"));
    const { key } = await uploadFile(app, image, { key: pro.live, name: "dot.png", type: "image/png" });
    const made = await client.callTool({
      name: "transform_image",
      arguments: { key, width: 8, format: "webp" },
    });
    const { url } = made.structuredContent as { url: string };
    assert.equal((await fetch(url)).headers.get("content-type"), "image/webp");
    const options = { gravity: "n", background: "ffffff", blur: 2, rotate: 90 };
    const turned = await client.callTool({
      name: "transform_image",
      arguments: { key, width: 8, height: 8, fit: "cover", format: "png", ...options },
    });
    const { transform } = turned.structuredContent as { transform: object };
    assert.deepEqual({ ...transform, ...options }, transform);
    const refused = await client.callTool({ name: "transform_image", arguments: { key } });
    assert.equal(refused.isError, true);
    await client.close();
  });
});

describe("transform_image", () => {
  it("is offered with a key whose rate limit is used up, which is said, and works", async (t) => {
    const limited = await startApp({ database: "sqlite", keepRateLimits: true });
    t.after(() => limited.close());
    const { live } = await limited.createTenant("pro");
    const image = readFileSync(join(root, "packages/mcp/test/dot.png"));
    const { key } = await uploadFile(limited, image, { key: live, name: "dot.png", type: "image/png" });
    let status = 200;
    while (status === 200) ({ status } = await limited.call("GET", "usage", { key: live }));
    assert.equal(status, 429);
    const transport = startStdio({ UPSTOW_URL: limited.url, UPSTOW_API_KEY: live }, "pipe");
    const said = text(transport.stderr as Readable);
    const client = new Client({ name: "test", version: "1" });
    t.after(() => client.close());
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      [...names, "transform_image"],
    );
    const made = await client.callTool({ name: "transform_image", arguments: { key, width: 8 } });
    assert.ok((made.structuredContent as { url?: string }).url);
    await client.close();
    assert.match(await said, /could not be checked at .*: the key has reached its rate limit/);
    assert.doesNotMatch(await said, /not offered/);
  });

  it("leaves a key that could not be judged to the service, which says what is wrong with it", async (t) => {
    const app = await startApp({ database: "sqlite" });
    t.after(() => app.close());
    const free = await app.createTenant("free");
    const { run } = createTransformTool(app.url, free.live);
    const asked = async () => run(openSources(null, "http://localhost:4000"), { key: "a", width: 8 });
    await assert.rejects(asked, { name: "ToolError", message: /Free plan/ });
  });

  it("says that the service does not answer where nobody does, or a proxy in its place", async (t) => {
    const proxy = createServer((_request, response) => response.writeHead(502).end("<p>Bad gateway"));
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    t.after(() => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    for (const url of [`http://127.0.0.1:${port}`, "http://127.0.0.1:9"]) {
      const { run } = createTransformTool(url, "svc_live_any");
      const asked = async () => run(openSources(null, "http://localhost:4000"), { key: "a", width: 8 });
      await assert.rejects(asked, { name: "ToolError", message: new RegExp(`No response from ${url};`) });
    }
  });
});

describe("server.json", () => {
  it("names this package and what its program reads", () => {
    assert.equal(serverJson.name, packageJson.mcpName);
    assert.match(serverJson.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    assert.ok(serverJson.description.length <= 100);
    const [entry] = serverJson.packages;
    assert.equal(entry?.identifier, packageJson.name);
    assert.deepEqual([serverJson.version, entry?.version], [packageJson.version, packageJson.version]);
    const program = readFileSync(join(import.meta.dirname, "../src/stdio.ts"), "utf8");
    const read = new Set(program.match(/\bUPSTOW_[A-Z_]+\b/g));
    assert.deepEqual([...read].sort(), entry?.environmentVariables.map(({ name }) => name).sort());
  });
});
