import { setImmediate as nextTurn } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { toSummary } from "./components/component-tools.ts";
import { toPageSummary } from "./docs/doc-tools.ts";
import { getQuickstartText } from "./scaffolds/quickstart.ts";
import { shortenErrors } from "./short-errors.ts";
import { type Sources, type Tool, ToolError } from "./tool.ts";

/** Clients may call what is read-only without asking anybody. */
const annotate = ({ hasEffect = false }: Tool) => ({
  readOnlyHint: !hasEffect,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
});

/** Nothing changes while it runs, so subscriptions would only keep connections open, even past a shutdown. */
const capabilities = { tools: { listChanged: false }, resources: { listChanged: false } };

/** One server with the given tools and the three resources; both transports use it. */
export function createServer(sources: Sources, tools: readonly Tool[], version: string): McpServer {
  const server = new McpServer({ name: "upstow", title: "Upstow", version }, { capabilities });
  shortenErrors(server);
  for (const tool of tools) {
    const { title, description } = tool;
    const config = { title, description, inputSchema: tool.input, annotations: annotate(tool) };
    server.registerTool(tool.name, config, (input) => answer(tool, sources, input));
  }
  addResource(server, "catalog", "application/json", "All components", () =>
    JSON.stringify({ components: sources.catalogue.map(toSummary) }, null, 2),
  );
  addResource(server, "quickstart", "text/markdown", "From setup to the first uploaded file", () =>
    getQuickstartText(sources.docs),
  );
  addResource(server, "docs", "application/json", "All documentation pages", () =>
    JSON.stringify({ pages: sources.docs.pages.map(toPageSummary) }, null, 2),
  );
  return server;
}

let lastTurn: Promise<void> = Promise.resolve();

/** A batch can contain a hundred searches. One per turn of the event loop lets other requests in between. */
function takeTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

async function answer(tool: Tool, sources: Sources, input: Record<string, unknown>) {
  await takeTurn();
  try {
    const output = await tool.run(sources, input);
    if (typeof output === "string") return { content: [{ type: "text" as const, text: output }] };
    return {
      content: [{ type: "text" as const, text: JSON.stringify(output, null, 2) }],
      structuredContent: output as Record<string, unknown>,
    };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: [{ type: "text" as const, text: error.message }], isError: true };
  }
}

function addResource(
  server: McpServer,
  name: string,
  mimeType: string,
  description: string,
  read: () => string,
): void {
  server.registerResource(name, `upstow://${name}`, { title: name, description, mimeType }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType, text: read() }],
  }));
}
