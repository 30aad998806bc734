import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Registry } from "prom-client";
import { unauthorized } from "../errors.ts";
import { isLoopbackAddress } from "../net/loopback.ts";
import { createDurations } from "./durations.ts";
import { isForwarded } from "./require-https.ts";

export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "upstow_" });
  return registry;
}

/** Prometheus text at /metrics, for callers on this machine or with the operator's token. */
export function exposeMetrics(app: FastifyInstance, registry: Registry, token: string | null): void {
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
    const isLocal = isLoopbackAddress(request.clientAddress) && !isForwarded(request.headers);
    if (!isOperator && !isLocal) throw unauthorized();
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
