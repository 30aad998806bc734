import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { hostedTools } from "../src/index.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");

it("the published package is one program that has the documentation inside", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "upstow-mcp-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const built = join(folder, "package");
  await run(process.execPath, [join(import.meta.dirname, "../build.mjs"), built]);
  const manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8"));
  assert.deepEqual(manifest.bin, { "upstow-mcp": "upstow-mcp.js" });
  assert.equal(manifest.private, undefined);
  for (const name of Object.keys(manifest.dependencies)) assert.doesNotMatch(name, /^@upstow\//);

  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
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
