import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { unauthorized } from "../errors.ts";
import { isLoopbackAddress } from "../net/loopback.ts";
import { isForwarded } from "./require-https.ts";

export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "upstow_" });
  return registry;
}

/** Prometheus text at /metrics, for callers on this machine or with the operator's token. */
export function exposeMetrics(app: FastifyInstance, registry: Registry, token: string | null): void {
  const duration = new Histogram({
    name: "upstow_http_request_duration_seconds",
    help: "Time from a request's first byte to its last answered byte.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  });
  // Looking a series up by its labels costs several times what observing does.
  const series = new Map<string, Histogram.Internal<"method" | "route" | "status">>();
  app.addHook("onResponse", (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? "unknown";
    const name = `${method} ${route} ${reply.statusCode}`;
    let observed = series.get(name);
    if (observed === undefined) {
      observed = duration.labels(method, route, String(reply.statusCode));
      series.set(name, observed);
    }
    observed.observe(reply.elapsedTime / 1000);
    done();
  });

  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    const isOperator = token !== null && isSame(request.headers.authorization ?? "", `Bearer ${token}`);
    const isLocal = isLoopbackAddress(request.clientAddress) && !isForwarded(request);
    if (!isOperator && !isLocal) throw unauthorized();
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
