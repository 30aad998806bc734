import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "./support/start-app.ts";

const both = "application/json, text/event-stream";
const clientInfo = { name: "test", version: "1" };
const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };

describe("how the tool-protocol endpoint speaks the protocol", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database: "sqlite" });
  });
  after(() => app.close());

  async function post(body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${app.url}/api/v1/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: both, ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const type = response.headers.get("content-type");
    const text = await response.text();
    const isEvent = type === "text/event-stream";
    return {
      status: response.status,
      type,
      body: JSON.parse(isEvent ? (text.split("data: ")[1] ?? "") : text),
    };
  }
  const request = (method: string, params: object = {}) => ({ jsonrpc: "2.0", id: 1, method, params });

  it("answers in JSON where that is preferred or all that is accepted, and in events where they are", async () => {
    for (const [accept, type] of [
      [both, "application/json"],
      ["application/json", "application/json"],
      ["*/*", "application/json"],
      ["text/event-stream;q=0.5, application/json", "application/json"],
      ["text/event-stream, application/json", "text/event-stream"],
      ["text/event-stream", "text/event-stream"],
    ] as const) {
      const answer = await post(request("tools/list"), { accept, "mcp-protocol-version": "2025-06-18" });
      assert.deepEqual([answer.status, answer.type], [200, type], accept);
      assert.equal(answer.body.result.tools.length, 11);
    }
    const neither = await post(request("tools/list"), { accept: "text/html" });
    assert.deepEqual([neither.status, neither.body.error.code], [406, -32_000]);
    const batch = await post([request("ping"), { ...request("ping"), id: 2 }]);
    assert.deepEqual(
      batch.body.map(({ id }: { id: number }) => id),
      [1, 2],
    );
  });

  it("keeps no session: a call needs neither a key, a handshake nor an id from an earlier one", async () => {
    const response = await fetch(`${app.url}/api/v1/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: both, "mcp-protocol-version": "2025-06-18" },
      body: JSON.stringify(request("initialize", hello)),
    });
    const { jsonrpc, id, result } = (await response.json()) as {
      jsonrpc: string;
      id: number;
      result: { protocolVersion: string; serverInfo: { version: string } };
    };
    assert.deepEqual([jsonrpc, id, result.protocolVersion], ["2.0", 1, "2025-06-18"]);
    assert.equal(response.headers.get("mcp-session-id"), null);
    const called = await post(request("tools/call", { name: "list_docs", arguments: {} }));
    assert.ok(called.body.result.structuredContent.pages.length > 0);
  });

  it("lists every tool with exactly its arguments", async () => {
    const { tools } = (await post(request("tools/list"))).body.result;
    type Tool = { name: string; inputSchema: { properties?: object; required?: string[] } };
    const signatures = tools.map(({ name, inputSchema }: Tool) => {
      const { properties = {}, required = [] } = inputSchema;
      return [name, ...Object.keys(properties).map((key) => (required.includes(key) ? `${key}*` : key))];
    });
    assert.deepEqual(signatures, [
      ["list_components", "category"],
      ["get_component", "name*"],
      ["search_components", "query*"],
      ["get_install_command", "packageManager", "packages"],
      ["scaffold_route_handler", "framework", "routeName*", "maxFileSize", "allowedTypes", "access"],
      ["scaffold_provider"],
      ["get_byos_config", "provider*"],
      ["get_quickstart"],
      ["search_docs", "query*", "limit"],
      ["get_doc", "path*"],
      ["list_docs"],
    ]);
  });

  it("negotiates an unknown version in the handshake, whichever way it is named", async () => {
    for (const version of ["2099-01-01", "2026-07-28", "banana"]) {
      const params = { ...hello, protocolVersion: version };
      for (const headers of [{}, { "mcp-protocol-version": version }]) {
        const { status, body } = await post(request("initialize", params), headers);
        assert.deepEqual([status, body.result?.protocolVersion], [200, "2025-11-25"], version);
      }
    }
    const known = await post(request("initialize", hello), { "mcp-protocol-version": "banana" });
    assert.equal(known.body.result.protocolVersion, "2025-06-18");
  });

  it("refuses an unknown version in the header of any later request, as the protocol demands", async () => {
    for (const version of ["2099-01-01", "2000-01-01", "banana"]) {
      const { status } = await post(request("tools/list"), { "mcp-protocol-version": version });
      assert.equal(status, 400, version);
    }
  });

  it("calls wrong parameters what they are, in one sentence", async () => {
    const { clientInfo: _, ...nameless } = hello;
    for (const [message, problem] of [
      [request("initialize", nameless), "clientInfo: expected object, received undefined"],
      [{ jsonrpc: "2.0", id: 1, method: "initialize" }, "params: expected object, received undefined"],
      [request("tools/call"), "name: expected string, received undefined"],
      [request("resources/read", { uri: 5 }), "uri: expected string, received number"],
    ] as const) {
      for (const accept of [both, "text/event-stream"]) {
        const { status, body } = await post(message, { accept });
        assert.equal(status, 200);
        assert.deepEqual(body.error, { code: -32_602, message: `Invalid params: ${problem}` });
      }
    }
  });

  it("answers a batch that cancels its own request, which would otherwise never end", async () => {
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    for (const accept of [both, "text/event-stream"]) {
      const { status, body } = await post([request("tools/list"), cancel], { accept });
      assert.deepEqual([status, body.id], [200, 1]);
    }
  });
});
