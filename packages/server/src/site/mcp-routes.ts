import { ADDRESS_LIMITS, TOOL_BATCH_MAX, TOOL_BODY_MAX_BYTES } from "@upstow/contract";
import type { ApiDocument, HostedEndpoint } from "@upstow/mcp";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";
import { addressGroup } from "../kernel/net/cidr-list.ts";
import { isLoopbackHost } from "../kernel/net/listen-address.ts";
import { rateLimited } from "../kernel/rate-limiter.ts";
import { version } from "../kernel/version.ts";

/** The tool protocol over HTTP: read-only, without a key, stateless. */
export function mcpRoutes(app: FastifyInstance, deps: Deps, api: () => ApiDocument): void {
  const tools = loadOnce(api, deps.config.publicUrl);
  const config = { isPublic: true, whileReadOnly: true };

  async function count(request: FastifyRequest, messages: number): Promise<void> {
    const bucket = `mcp:${addressGroup(request.clientAddress)}`;
    const hits = await Promise.all(
      Array.from({ length: messages }, () => deps.limiter.hit(bucket, ADDRESS_LIMITS.toolProtocol)),
    );
    const refused = hits.find((hit) => !hit.isAllowed);
    if (refused !== undefined) throw rateLimited(refused);
  }

  app.register(async (scope) => {
    // The protocol has its own responses for bodies that are not JSON.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    scope.addHook("onRequest", async (request, reply) => {
      const { origin } = request.headers;
      if (!isOwnOrigin(deps.config, request.host, origin)) throw refusedOrigin();
      if (origin !== undefined) reply.headers({ "access-control-allow-origin": origin, vary: "Origin" });
      await count(request, 1);
    });

    scope.post(
      "/api/v1/mcp",
      {
        config,
        bodyLimit: TOOL_BODY_MAX_BYTES,
        schema: { tags: ["tool protocol"], summary: "JSON-RPC 2.0 over streamable HTTP" },
      },
      async (request, reply) => {
        const messages = countMessages(request.body);
        if (messages > TOOL_BATCH_MAX) throw tooManyMessages();
        await count(request, messages - 1);
        const { endpoint } = await tools();
        const response = await endpoint.fetch(toWebRequest(deps.config.publicUrl, request));
        reply.code(response.status);
        for (const [name, value] of response.headers) reply.header(name, value);
        // A notification gets an empty body; null would be sent as text.
        return reply.send(response.body ?? undefined);
      },
    );

    // Browsers send a preflight before JSON to another origin.
    scope.options("/api/v1/mcp", { config, schema: { hide: true } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          "access-control-allow-methods": "POST",
          // The wildcard covers every header except this one.
          "access-control-allow-headers": "*, Authorization",
          "access-control-max-age": "86400",
        })
        .send(),
    );

    scope.get(
      "/api/v1/mcp/health",
      {
        config,
        schema: { tags: ["tool protocol"], summary: "Whether the tools respond, and how many there are" },
      },
      async () => ({ status: "ok", version, tools: (await tools()).count }),
    );
  });
}

/** Most instances never need it; those that do load the tools and index the documents once. */
function loadOnce(
  api: () => ApiDocument,
  publicUrl: string,
): () => Promise<{ endpoint: HostedEndpoint; count: number }> {
  let loading: Promise<{ endpoint: HostedEndpoint; count: number }> | undefined;
  const load = async () => {
    const { createHostedEndpoint, hostedTools, openSources } = await import("@upstow/mcp");
    return {
      endpoint: createHostedEndpoint(openSources(api(), publicUrl), version),
      count: hostedTools.length,
    };
  };
  return () => {
    loading ??= load();
    return loading;
  };
}

/** Counts a batch by its messages, or 100 would count as one request. The protocol rejects invalid JSON itself. */
function countMessages(body: unknown): number {
  const text = String(body ?? "").trimStart();
  if (!text.startsWith("[")) return 1;
  try {
    return Math.max(1, (JSON.parse(text) as unknown[]).length);
  } catch {
    return 1;
  }
}

function tooManyMessages(): AppError {
  return new AppError("VALIDATION_ERROR", `A batch can have at most ${TOOL_BATCH_MAX} messages.`, {
    suggestion: "Send several smaller batches.",
  });
}

function toWebRequest(publicUrl: string, request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (typeof value === "string") headers.set(name, value);
  }
  return new Request(`${publicUrl}/api/v1/mcp`, {
    method: "POST",
    headers,
    body: String(request.body ?? ""),
  });
}

function refusedOrigin(): AppError {
  return new AppError("FORBIDDEN", "This origin may not call the tool-protocol endpoint.", {
    suggestion: "Add the origin to UPSTOW_ALLOWED_ORIGINS.",
  });
}

/**
 * Stops a web page from using a visitor's browser to reach an instance that only the visitor can reach: browsers send
 * the page's origin with every POST. Comparing it with Host is useless, because with DNS rebinding both match.
 */
export function isOwnOrigin(
  config: Pick<Config, "publicUrl" | "cdnUrl" | "allowedOrigins">,
  host: string,
  origin: string | undefined,
): boolean {
  if (origin === undefined || config.allowedOrigins.includes(origin)) return true;
  const own = [config.publicUrl, config.cdnUrl].map((url) => new URL(url));
  if (own.some((url) => url.origin === origin)) return true;
  const called = URL.parse(`http://${host}`);
  const isOwnHost =
    called !== null &&
    (isLoopbackHost(called.hostname) || own.some((url) => url.hostname === called.hostname));
  return isOwnHost && URL.parse(origin)?.hostname === called.hostname;
}
