import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../../..");
const suite = join(root, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const baseline = join(import.meta.dirname, "../conformance.yml");

const mustPass = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

describe("the hosted endpoint", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database: "sqlite" });
  });
  after(() => app.close());

  it("passes the official conformance suite, but for what conformance.yml explains", async () => {
    const url = `${app.url}/api/v1/mcp`;
    const args = [suite, "server", "--url", url, "--suite", "all", "--expected-failures", baseline];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
    for (const scenario of mustPass) assert.match(stdout, new RegExp(`✓ ${scenario}: `), stdout);
    assert.match(stdout, /Baseline check passed/);
  });
});
