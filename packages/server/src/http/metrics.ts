import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import type { Config } from "../config.ts";
import { unauthorized } from "../kernel/errors.ts";
import { isLoopbackAddress } from "../kernel/net/loopback.ts";
import { createDurations } from "./durations.ts";
import { isForwarded } from "./require-https.ts";

export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "upstow_" });
  return registry;
}

/** Prometheus text at /metrics, for callers on this machine or with the operator's token. */
export function exposeMetrics(
  app: FastifyInstance,
  registry: Registry,
  { metricsToken: token, trustedProxies }: Pick<Config, "metricsToken" | "trustedProxies">,
): void {
  const durations = createDurations(
    "upstow_http_request_duration_seconds",
    "Time from a request's first byte to its last answered byte.",
  );
  registry.registerMetric(durations.metric);
  app.addHook("onRoute", (route) => {
    const observe = durations.ofRoute(String(route.method), route.url);
    route.onResponse = [
      (_request, reply, done) => {
        observe(reply.statusCode, reply.elapsedTime / 1000);
        done();
      },
      ...[route.onResponse ?? []].flat(),
    ];
  });

  const observeUnknown = durations.ofRoute("any", "unknown");
  app.addHook("onResponse", (request, reply, done) => {
    if (request.is404) observeUnknown(reply.statusCode, reply.elapsedTime / 1000);
    done();
  });

  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    const isOperator = token !== null && isSame(request.headers.authorization ?? "", `Bearer ${token}`);
    if (!isOperator && !isLocal(request)) throw unauthorized();
    return reply.type(registry.contentType).send(await registry.metrics());
  });

  /** A proxy on this machine shares our address. If it names no client, the client may be anyone. */
  function isLocal({ socket, headers }: FastifyRequest): boolean {
    const peer = socket.remoteAddress ?? "";
    return isLoopbackAddress(peer) && !trustedProxies.contains(peer) && !isForwarded(headers);
  }
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
