import "./request-context.ts";
import type { ApiDocument } from "@upstow/mcp";
import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import type { EventLoopGuard } from "../event-loop-guard.ts";
import { componentRoutes } from "../features/components/routes.ts";
import { consoleRoutes } from "../features/console/routes.ts";
import { deliveryRoutes } from "../features/delivery/routes.ts";
import { mcpRoutes } from "../features/mcp/routes.ts";
import { packageRoutes } from "../features/packages/routes.ts";
import type { ReadOnlyMode } from "../features/read-only/read-only-mode.ts";
import { siteRoutes } from "../features/site/routes.ts";
import { variantDeliveryRoutes } from "../features/transforms/routes.ts";
import type { Services } from "../housekeeping.ts";
import { version } from "../version.ts";
import { logRequests } from "./access-log.ts";
import { customerApi } from "./api.ts";
import { bindCustomDomains } from "./bind-custom-domains.ts";
import { limitBodyTime } from "./body-deadline.ts";
import { createConnections } from "./connections.ts";
import { answerErrorsInEnvelope } from "./error-handler.ts";
import { answerHealthProbes } from "./health.ts";
import { acceptJsonBodies } from "./json-body.ts";
import { exposeMetrics } from "./metrics.ts";
import { describeApi } from "./openapi.ts";
import { refuseChanges } from "./refuse-changes.ts";
import { limitRequestSize } from "./request-size.ts";
import { requireHttps } from "./require-https.ts";
import { trackRequests } from "./running-requests.ts";
import { createHttpFrame } from "./server.ts";
import type { TransferMetrics } from "./transfer-metrics.ts";
import { answerUnknownPaths } from "./unknown-path.ts";
import { validateRequests } from "./validation.ts";

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
