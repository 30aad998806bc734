import type { Choice } from "./choice.ts";
import { hostileBody, hostileText, hostileValue } from "./hostile.ts";
import type { Mode } from "./requests.ts";

const tools = [
  ["list_components", {}],
  ["search_components", { query: "drop" }],
  ["get_install_command", { packageManager: "pnpm" }],
  ["scaffold_route_handler", { framework: "hono", routeName: "images" }],
  ["get_byos_config", { provider: "r2" }],
  ["search_docs", { query: "webhook", limit: 3 }],
  ["get_doc", { path: "../../package.json" }],
  ["list_docs", {}],
] as const;

/** A JSON-RPC message for the tool-protocol endpoint, whose body the document leaves to the protocol. */
export function toolCall(choice: Choice, mode: Mode): string {
  const [name, args] = choice.pick(tools);
  const message: Record<string, unknown> = choice.pick<() => Record<string, unknown>>([
    () => ({
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } },
    }),
    () => ({ method: "tools/list", params: {} }),
    () => ({ method: "resources/read", params: { uri: "upstow://catalog" } }),
    () => ({ method: "tools/call", params: { name, arguments: args } }),
  ])();
  const call = { jsonrpc: "2.0", id: choice.int(1, 99), ...message };
  if (mode === "valid") return JSON.stringify(call);
  const broken = choice.pick<() => object>([
    () => ({ ...call, [choice.pick(["id", "jsonrpc", "method", "params"])]: hostileValue(choice) }),
    () => ({
      ...call,
      method: "tools/call",
      params: { name, arguments: { [Object.keys(args)[0] ?? "x"]: hostileValue(choice) } },
    }),
    () => ({
      ...call,
      method: "tools/call",
      params: { name: hostileText(choice), arguments: hostileValue(choice) },
    }),
    () => ({ ...call, method: "resources/read", params: { uri: hostileText(choice) } }),
  ])();
  return mode === "near-valid" ? JSON.stringify(broken) : hostileBody(choice, JSON.stringify(call));
}
