// Runs the official inspector's command line against both transports. Not part of `npm test`: the inspector brings
// a web interface of 130 MB along.
//   npx node packages/mcp/test/inspector.ts
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startApp } from "../../server/test/support/start-app.ts";
import { hostedTools } from "../src/index.ts";

const run = promisify(execFile);
const inspector = [
  "exec",
  "--yes",
  "--package",
  "@modelcontextprotocol/inspector@2.12.0",
  "--",
  "mcp-inspector",
];
const app = await startApp({ database: "sqlite" });
const targets = {
  http: [`${app.url}/api/v1/mcp`, "--transport", "http"],
  stdio: [process.execPath, join(import.meta.dirname, "../src/stdio.ts")],
};

async function ask(target: readonly string[], ...args: string[]) {
  const { stdout } = await run(
    "npm",
    [...inspector, "--cli", ...target, "--connect-timeout", "60000", ...args],
    { maxBuffer: 2 ** 24 },
  );
  return JSON.parse(stdout);
}

try {
  for (const [name, target] of Object.entries(targets)) {
    const { tools } = await ask(target, "--method", "tools/list");
    assert.deepEqual(
      tools.map((tool: { name: string }) => tool.name),
      hostedTools.map((tool) => tool.name),
    );
    const call = [
      "--method",
      "tools/call",
      "--tool-name",
      "get_component",
      "--tool-arg",
      "name=UploadButton",
    ];
    const { structuredContent } = await ask(target, ...call);
    assert.equal(structuredContent.component.slug, "upload-button");
    const { contents } = await ask(target, "--method", "resources/read", "--uri", "upstow://quickstart");
    assert.match(contents[0].text, /^# Quick start/);
    process.stdout.write(`${name}: ${tools.length} tools listed, one called, one resource read\n`);
  }
} finally {
  await app.close();
}
