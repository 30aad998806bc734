import "../http/request-context.ts";
import type { ApiDocument } from "@upstow/mcp";
import type { FastifyInstance } from "fastify";
import { consoleRoutes } from "../dashboard/routes.ts";
import type { Deps } from "../deps.ts";
import { logRequests } from "../http/access-log.ts";
import { limitBodyTime } from "../http/body-deadline.ts";
import { createConnections } from "../http/connections.ts";
import { answerErrorsInEnvelope } from "../http/error-handler.ts";
import { answerHealthProbes } from "../http/health.ts";
import { acceptJsonBodies } from "../http/json-body.ts";
import { exposeMetrics } from "../http/metrics.ts";
import { describeApi } from "../http/openapi.ts";
import type { ReadOnlyMode } from "../http/read-only/read-only-mode.ts";
import { refuseChanges } from "../http/refuse-changes.ts";
import { limitRequestSize } from "../http/request-size.ts";
import { requireHttps } from "../http/require-https.ts";
import { trackRequests } from "../http/running-requests.ts";
import { createHttpFrame } from "../http/server.ts";
import type { TransferMetrics } from "../http/transfer-metrics.ts";
import { answerUnknownPaths } from "../http/unknown-path.ts";
import { validateRequests } from "../http/validation.ts";
import type { EventLoopGuard } from "../kernel/event-loop-guard.ts";
import { version } from "../kernel/version.ts";
import { bindCustomDomains } from "../projects/cdn-domain/bind-custom-domains.ts";
import { variantDeliveryRoutes } from "../serving/images/routes.ts";
import { deliveryRoutes } from "../serving/routes.ts";
import { componentRoutes } from "../site/components/routes.ts";
import { mcpRoutes } from "../site/mcp/routes.ts";
import { packageRoutes } from "../site/packages/routes.ts";
import { siteRoutes } from "../site/routes.ts";
import { customerApi } from "./api.ts";
import type { Services } from "./housekeeping.ts";

interface HttpOptions {
  bodyWithinMs: number | undefined;
  idleTransferMs: number | undefined;
  transferMetrics: TransferMetrics;
  guard: EventLoopGuard;
  addStorageRoutes: (http: FastifyInstance) => void;
}

/** Everything that answers requests, in the order in which a request meets it. */
export async function createHttp(
  deps: Deps,
  services: Services,
  readOnly: ReadOnlyMode,
  { bodyWithinMs, idleTransferMs, transferMetrics, guard, addStorageRoutes }: HttpOptions,
): Promise<FastifyInstance> {
  const { config } = deps;
  const http = createHttpFrame({
    tls: config.tls,
    trustedProxies: config.trustedProxies,
    logger: deps.log,
    connections: createConnections({
      limit: config.connectionLimit,
      trustedProxies: config.trustedProxies,
      metrics: transferMetrics,
      log: deps.log,
      idleTransferMs,
    }),
    onSlowHeaders: transferMetrics.countCutSender,
  });
  const describe = describeApi(http, version);
  const api = () => describe(config.publicUrl) as ApiDocument;
  guard.watch(trackRequests(http));
  answerErrorsInEnvelope(http, deps.log);
  acceptJsonBodies(http);
  validateRequests(http);
  logRequests(http, deps.log);
  limitRequestSize(http);
  requireHttps(http, config);
  bindCustomDomains(http, deps.customHosts);
  refuseChanges(http, readOnly);
  answerUnknownPaths(http);
  limitBodyTime(http, bodyWithinMs, transferMetrics.countCutSender);
  exposeMetrics(http, deps.metrics, config);
  answerHealthProbes(http, deps);
  http.get("/api/v1/openapi.json", { schema: { hide: true } }, async () => api());
  customerApi(http, deps, services);
  mcpRoutes(http, deps, api);
  siteRoutes(http, deps, api);
  packageRoutes(http, config);
  componentRoutes(http, deps);
  consoleRoutes(http, deps, services.transforms);
  deliveryRoutes(http, deps);
  variantDeliveryRoutes(http, deps, services.transforms);
  addStorageRoutes(http);
  await http.ready();
  return http;
}
