import type { FastifyInstance } from "fastify";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { signInRoutes } from "./session-routes.ts";

/** What the dashboard's pages call: a session in a cookie, never an API key. */
export function consoleRoutes(app: FastifyInstance, deps: Deps): void {
  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (request, reply) => {
        reply.header("cache-control", "no-store");
        requireSameOrigin(deps.config, request);
      });
      signInRoutes(scope as unknown as ApiApp, deps);
    },
    { prefix: "/dashboard/api" },
  );
}
