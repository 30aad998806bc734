import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { apiKeyRoutes } from "../features/api-keys/routes.ts";
import { fileRouteRoutes } from "../features/file-routes/routes.ts";
import { fileRoutes } from "../features/files/routes.ts";
import { logRoutes } from "../features/logs/routes.ts";
import { projectRoutes } from "../features/projects/routes.ts";
import { transformRoutes } from "../features/transforms/routes.ts";
import { uploadRoutes } from "../features/uploads/routes.ts";
import { usageRoutes } from "../features/usage/routes.ts";
import { webhookRoutes } from "../features/webhooks/routes.ts";
import type { Services } from "../housekeeping.ts";
import type { ApiApp } from "./api-app.ts";
import { authenticate } from "./authenticate.ts";
import { honourIdempotencyKeys } from "./idempotency.ts";
import { limitRates } from "./rate-limit.ts";

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
