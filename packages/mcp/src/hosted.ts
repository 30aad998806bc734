import { createMcpHandler } from "@modelcontextprotocol/server";
import { createServer } from "./server.ts";
import type { Sources } from "./tool.ts";
import { hostedTools } from "./tools.ts";

export interface HostedEndpoint {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Streamable HTTP without sessions: every request stands alone, so any instance can answer it. */
export function createHostedEndpoint(sources: Sources, version: string): HostedEndpoint {
  const handler = createMcpHandler(() => createServer(sources, hostedTools, version));
  return { fetch: (request) => handler.fetch(request), close: () => handler.close() };
}
