import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { preferredFormat } from "./accept.ts";
import { createServer } from "./server.ts";
import type { Sources } from "./tool.ts";
import { hostedTools } from "./tools.ts";

export interface HostedEndpoint {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** The header the library requires; the client's own has been checked by then. */
const acceptBoth = "application/json, text/event-stream";

/** Streamable HTTP without sessions: requests are independent, so any instance can handle them. */
export function createHostedEndpoint(sources: Sources, version: string): HostedEndpoint {
  const create = () => createServer(sources, hostedTools, version);
  const inEvents = createMcpHandler(create, { responseMode: "sse" });
  const inJson = createMcpHandler(create, { legacy: "reject" });

  return {
    async fetch(request) {
      const format = preferredFormat(request.headers.get("accept"));
      if (format === null) return refuse(406, "Not Acceptable: accept application/json or text/event-stream");
      const { forwarded, parsedBody } = await prepare(request);
      const options = parsedBody === undefined ? {} : { parsedBody };
      if (format === "events") return inEvents.fetch(forwarded, options);
      if (await isLegacyRequest(forwarded, parsedBody)) return answerInJson(create(), forwarded, options);
      return inJson.fetch(forwarded, options);
    },
    async close() {
      await Promise.all([inEvents.close(), inJson.close()]);
    },
  };
}

/** For protocol versions up to 2025-11-25, where the library would respond with a stream of one event. */
async function answerInJson(server: McpServer, request: Request, options: object): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, options);
  } finally {
    await server.close();
  }
}

/** The library rejects invalid JSON. */
async function prepare(request: Request): Promise<{ forwarded: Request; parsedBody: unknown }> {
  const text = await request.text();
  const headers = new Headers(request.headers);
  headers.set("accept", acceptBoth);
  const parsedBody = parse(text);
  // The handshake negotiates the version by its body; only what follows must name one in the header that we know.
  if ((parsedBody as { method?: unknown } | null | undefined)?.method === "initialize")
    headers.delete("mcp-protocol-version");
  return { forwarded: new Request(request.url, { method: "POST", headers, body: text }), parsedBody };
}

function parse(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return Array.isArray(body) ? withoutCancellations(body) : body;
  } catch {
    return undefined;
  }
}

/** All that one could cancel here is a request of the same batch, which would then wait for its response forever. */
function withoutCancellations(batch: { method?: unknown }[]): unknown[] {
  const kept = batch.filter((message) => message?.method !== "notifications/cancelled");
  return kept.length > 0 ? kept : batch;
}

function refuse(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status });
}
