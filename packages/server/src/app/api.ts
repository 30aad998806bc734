import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { fileRoutes } from "../files/routes.ts";
import { uploadRoutes } from "../files/uploads/routes.ts";
import type { ApiApp } from "../http/api-app.ts";
import { honourIdempotencyKeys } from "../http/idempotency.ts";
import { authenticate } from "../projects/api-keys/authenticate.ts";
import { limitRates } from "../projects/api-keys/rate-limit.ts";
import { apiKeyRoutes } from "../projects/api-keys/routes.ts";
import { fileRouteRoutes } from "../projects/file-routes/routes.ts";
import { logRoutes } from "../projects/logs/routes.ts";
import { projectRoutes } from "../projects/routes.ts";
import { usageRoutes } from "../projects/usage/routes.ts";
import { transformRoutes } from "../serving/images/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";
import type { Services } from "./housekeeping.ts";

/** Every route here needs a key, counts to one of its rate windows, and may be repeated safely. */
export function customerApi(app: FastifyInstance, deps: Deps, services: Services): void {
  app.register(
    async (scope) => {
      authenticate(scope, deps, services.lastUsed);
      limitRates(scope, deps);
      honourIdempotencyKeys(scope, deps);
      const api = scope as unknown as ApiApp;
      for (const addRoutes of [
        uploadRoutes,
        fileRoutes,
        projectRoutes,
        fileRouteRoutes,
        apiKeyRoutes,
        usageRoutes,
        logRoutes,
        webhookRoutes,
      ])
        addRoutes(api, deps);
      transformRoutes(api, deps, services.transforms);
    },
    { prefix: "/api/v1" },
  );
}
