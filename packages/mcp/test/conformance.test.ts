import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { z } from "zod";
import { startApp } from "../../server/test/support/start-app.ts";
import { createServer } from "../src/server.ts";
import { openSources } from "../src/sources.ts";
import { defineTool, ToolError } from "../src/tool.ts";

const run = promisify(execFile);
const suite = join(
  import.meta.dirname,
  "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);
const baseline = join(import.meta.dirname, "../conformance.yml");
const mustPass = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

async function runSuite(url: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [suite, "server", "--url", url, ...args], {
    maxBuffer: 2 ** 24,
  });
  return stdout;
}

/** The suite's own fixtures, made as our tools are made. */
const fixtures = [
  defineTool({
    name: "test_simple_text",
    title: "Text",
    description: "A text",
    input: z.object({}),
    run: () => "This is a simple text response for testing.",
  }),
  defineTool({
    name: "test_error_handling",
    title: "Error",
    description: "An error",
    input: z.object({}),
    run: () => {
      throw new ToolError("This tool intentionally returns an error for testing");
    },
  }),
];

describe("the official conformance suite", () => {
  it("passes against the hosted endpoint, but for what conformance.yml explains", async () => {
    await using app = {
      ...(await startApp({ database: "sqlite" })),
      [Symbol.asyncDispose]: () => app.close(),
    };
    const said = await runSuite(`${app.url}/api/v1/mcp`, "--suite", "all", "--expected-failures", baseline);
    for (const scenario of mustPass) assert.match(said, new RegExp(`✓ ${scenario}: `), said);
    assert.match(said, /Baseline check passed/);
  });

  it("passes for results and errors of tools, once the server has the fixtures", async () => {
    const sources = openSources(null, "http://localhost:4000");
    const handler = createMcpHandler(() => createServer(sources, fixtures, "1.0.0"));
    const http = createHttpServer(async (request, response) => {
      const headers = new Headers(request.headers as Record<string, string>);
      const init = request.method === "POST" ? { body: await text(request) } : {};
      const answer = await handler.fetch(
        new Request(`http://localhost${request.url}`, { method: request.method ?? "GET", headers, ...init }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    try {
      const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
      for (const scenario of ["tools-call-simple-text", "tools-call-error"]) {
        const said = await runSuite(url, "--scenario", scenario);
        assert.match(said, /Passed: 1\/1/, said);
      }
    } finally {
      http.closeAllConnections();
      http.close();
    }
  });
});
