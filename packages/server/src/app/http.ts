import type { ApiDocument } from "@upstow/mcp";
import type { FastifyInstance } from "fastify";
import { dashboardRoutes } from "../dashboard/routes.ts";
import type { Deps } from "../deps.ts";
import { formRoutes } from "../files/forms/routes.ts";
import { importRoutes } from "../files/imports/routes.ts";
import { fileRoutes } from "../files/routes.ts";
import { resumableRoutes } from "../files/uploads/doors/resumable-routes.ts";
import { tusRoutes } from "../files/uploads/doors/tus-routes.ts";
import { uploadRoutes } from "../files/uploads/routes.ts";
import { logRequests, trackRequests } from "../http/access-log.ts";
import { limitBodyTime } from "../http/body-deadline.ts";
import { createConnections } from "../http/connections.ts";
import { answerErrorsInEnvelope, answerUnknownPaths } from "../http/error-handler.ts";
import { answerHealthProbes } from "../http/health.ts";
import { honourIdempotencyKeys } from "../http/idempotency.ts";
import { acceptJsonBodies, limitRequestSize } from "../http/json-body.ts";
import { limitLargeRequests } from "../http/large-requests.ts";
import { exposeMetrics, type TransferMetrics } from "../http/metrics.ts";
import { describeApi } from "../http/openapi.ts";
import { type ReadOnlyMode, refuseChanges } from "../http/read-only.ts";
import { typed } from "../http/request-context.ts";
import { requireHttps } from "../http/require-https.ts";
import { createHttpFrame } from "../http/server.ts";
import { type StaticFile, sendStatic, toStaticFile } from "../http/static-file.ts";
import type { Tracing } from "../http/tracing.ts";
import { validateRequests } from "../http/validation.ts";
import type { EventLoopGuard } from "../kernel/event-loop-guard.ts";
import { version } from "../kernel/version.ts";
import { authenticate } from "../projects/api-keys/authenticate.ts";
import { limitRates } from "../projects/api-keys/rate-limit.ts";
import { apiKeyRoutes } from "../projects/api-keys/routes.ts";
import { bindCustomDomains } from "../projects/cdn-domain/custom-hosts.ts";
import { fileRouteRoutes } from "../projects/file-routes/routes.ts";
import { logRoutes } from "../projects/logs/routes.ts";
import { projectRoutes } from "../projects/routes.ts";
import { usageRoutes } from "../projects/usage/routes.ts";
import { transformRoutes, variantServingRoutes } from "../serving/images/routes.ts";
import { linkRoutes } from "../serving/links/routes.ts";
import { linkServingRoutes } from "../serving/links/serving.ts";
import { fileServingRoutes } from "../serving/routes.ts";
import { mcpRoutes } from "../site/mcp-routes.ts";
import { componentRoutes, packageRoutes } from "../site/package-routes.ts";
import { createErrorPages, createSiteLoader, siteRoutes } from "../site/routes.ts";
import { uploadPageRoutes } from "../site/upload-page-routes.ts";
import { welcomeRoutes } from "../site/welcome/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";
import type { Services } from "./housekeeping.ts";

interface HttpOptions {
  bodyWithinMs: number | undefined;
  idleTransferMs: number | undefined;
  transferMetrics: TransferMetrics;
  guard: EventLoopGuard;
  /** Null unless an operator wants traces. */
  tracing: Tracing | null;
  /** Null without Redis. */
  checkRedis: (() => Promise<void>) | null;
  addStorageRoutes: (http: FastifyInstance) => void;
}

/** Everything that handles requests, in the order in which it applies. */
export async function createHttp(
  deps: Deps,
  services: Services,
  readOnly: ReadOnlyMode,
  {
    bodyWithinMs,
    idleTransferMs,
    transferMetrics,
    guard,
    tracing,
    checkRedis,
    addStorageRoutes,
  }: HttpOptions,
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
  tracing?.traceRequests(http);
  const describe = describeApi(http, version);
  const api = () => describe(config.publicUrl) as ApiDocument;
  guard.watch(trackRequests(http, deps.metrics));
  const site = createSiteLoader(deps, api);
  answerErrorsInEnvelope(http, deps.log, createErrorPages(deps, site));
  acceptJsonBodies(http);
  validateRequests(http);
  logRequests(http, deps.log);
  limitRequestSize(http);
  requireHttps(http, config);
  bindCustomDomains(http, deps.customHosts);
  refuseChanges(http, readOnly);
  answerUnknownPaths(http);
  limitBodyTime(http, bodyWithinMs, transferMetrics.countCutSender);
  exposeMetrics(
    http,
    deps.metrics,
    config,
    async (host) => (await deps.customHosts.findProject(host)) !== null,
  );
  answerHealthProbes(http, deps, {
    database: () => deps.db.check(),
    storage: () => deps.store.check(),
    redis: checkRedis,
  });
  let document: StaticFile | undefined;
  http.get("/api/v1/openapi.json", { schema: { hide: true } }, (request, reply) => {
    document ??= toStaticFile("application/json; charset=utf-8", JSON.stringify(api()));
    return sendStatic(request, reply, document);
  });
  customerApi(http, deps, services);
  mcpRoutes(http, deps, api);
  siteRoutes(http, deps, site);
  welcomeRoutes(http, deps);
  uploadPageRoutes(http, deps, site);
  packageRoutes(http, config);
  componentRoutes(http, deps);
  dashboardRoutes(http, deps, services.transforms, services.importer);
  fileServingRoutes(http, deps);
  linkServingRoutes(http, deps);
  variantServingRoutes(http, deps, services.transforms);
  tusRoutes(http, deps, services.lastUsed);
  resumableRoutes(http, deps, services.lastUsed);
  formRoutes(http, deps);
  addStorageRoutes(http);
  await http.ready();
  return http;
}

/** Every route here requires a key, counts toward one of its rate limit windows, and can be retried safely. */
function customerApi(app: FastifyInstance, deps: Deps, services: Services): void {
  app.register(
    async (scope) => {
      authenticate(scope, deps, services.lastUsed);
      limitRates(scope, deps);
      limitLargeRequests(scope, ({ actor }) => actor.accountId);
      honourIdempotencyKeys(scope, deps);
      const api = typed(scope);
      for (const addRoutes of [
        uploadRoutes,
        fileRoutes,
        linkRoutes,
        projectRoutes,
        fileRouteRoutes,
        apiKeyRoutes,
        usageRoutes,
        logRoutes,
        webhookRoutes,
      ])
        addRoutes(api, deps);
      transformRoutes(api, deps, services.transforms);
      importRoutes(api, deps, services.importer);
    },
    { prefix: "/api/v1" },
  );
}
