import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { findOldestNode } from "../../../test/support/oldest-node.ts";
import { startApp } from "../../server/test/support/start-app.ts";
import { hostedTools } from "../src/index.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");

const folder = await mkdtemp(join(tmpdir(), "upstow-mcp-"));
const built = join(folder, "package");
before(async () => {
  await run(process.execPath, [join(import.meta.dirname, "../build.mjs"), built]);
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
});
after(() => rm(folder, { recursive: true }));

it("the published package is one program that has the documentation inside", async () => {
  await using stack = new AsyncDisposableStack();
  const manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8"));
  assert.deepEqual(manifest.bin, { "upstow-mcp": "upstow-mcp.js" });
  assert.equal(manifest.private, undefined);
  for (const name of Object.keys(manifest.dependencies)) assert.doesNotMatch(name, /^@upstow\//);

  const program = join(built, "upstow-mcp.js");
  const env = { UPSTOW_URL: "http://127.0.0.1:9" };
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env }));
  stack.defer(() => client.close());
  assert.equal((await client.listTools()).tools.length, hostedTools.length);
  const found = await client.callTool({
    name: "search_docs",
    arguments: { query: "verify a webhook in Hono" },
  });
  const { results } = found.structuredContent as { results: { path: string }[] };
  assert.ok(results.some(({ path }) => path === "guides/webhooks"));
  const page = await client.callTool({ name: "get_doc", arguments: { path: "reference/sdk/webhooks" } });
  assert.match(JSON.stringify(page.content), /verifyDelivery/);
});

it("the published package runs on the oldest Node that it names, with the service's own pages", async () => {
  await using stack = new AsyncDisposableStack();
  const program = join(built, "upstow-mcp.js");
  const app = await startApp({ database: "sqlite" });
  stack.defer(() => app.close());
  const client = new Client({ name: "test", version: "1" });
  const env = { UPSTOW_URL: app.url };
  await client.connect(new StdioClientTransport({ command: findOldestNode(), args: [program], env }));
  stack.defer(() => client.close());
  const page = await client.callTool({ name: "get_doc", arguments: { path: "reference/api/uploads" } });
  assert.match(JSON.stringify(page.content), /INVALID_FILE_TYPE/);
});
