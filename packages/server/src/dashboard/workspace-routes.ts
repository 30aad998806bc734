import { ENVIRONMENTS, type Environment, IdParam, type RateBucket } from "@upstow/contract";
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { Deps } from "../deps.ts";
import { fileRoutes } from "../files/routes.ts";
import { uploadRoutes } from "../files/uploads/routes.ts";
import type { ApiApp } from "../http/api-app.ts";
import { honourIdempotencyKeys } from "../http/idempotency.ts";
import { notFound } from "../kernel/errors.ts";
import { rateLimitFor } from "../projects/api-keys/rate-limit-for.ts";
import { apiKeyRoutes } from "../projects/api-keys/routes.ts";
import { fileRouteRoutes } from "../projects/file-routes/routes.ts";
import { logRoutes } from "../projects/logs/routes.ts";
import { usageRoutes } from "../projects/usage/routes.ts";
import { transformRoutes } from "../serving/images/routes.ts";
import type { Transforms } from "../serving/images/transforms.ts";
import { deliveryRoutes, signingKeyRoutes } from "../webhooks/routes.ts";
import { sendTestEvent } from "../webhooks/send-test-event.ts";
import { enterProject, type Role } from "./access.ts";
import { chosenFileRoutes } from "./files/routes.ts";
import { fileSearchRoutes } from "./files/search-routes.ts";
import { logSearchRoutes } from "./logs/log-search-routes.ts";
import { logStreamRoutes } from "./logs/log-stream-routes.ts";
import { signAgain } from "./sign-again.ts";
import { studioRoutes } from "./studio/studio-routes.ts";
import { usageDayRoutes } from "./usage-day-routes.ts";

/**
 * One environment of one project. The customer API's own routes answer here too: what differs is who may call them,
 * so rules and answers cannot drift apart.
 */
export function workspaceRoutes(app: FastifyInstance, deps: Deps, transforms: Transforms): void {
  app.register(
    async (scope) => {
      scope.decorateRequest("actor");
      scope.addHook("onRequest", async (request) => {
        request.actor = await enterProject(deps, request.session, targetOf(request), roleFor(request));
      });
      honourIdempotencyKeys(scope, deps);
      const api = undocumented(scope as unknown as ApiApp);
      const shared = [apiKeyRoutes, fileRouteRoutes, fileRoutes, logRoutes, uploadRoutes, usageRoutes];
      for (const addRoutes of [...shared, deliveryRoutes, signingKeyRoutes, chosenFileRoutes]) {
        addRoutes(api, deps);
      }
      transformRoutes(api, deps, transforms);
      fileSearchRoutes(api, deps, transforms.signer);
      studioRoutes(api, deps, transforms);
      logStreamRoutes(api, deps);
      logSearchRoutes(api, deps);
      usageDayRoutes(api, deps);
      api.post("/webhooks/deliveries/:id/sign", { schema: { params: IdParam } }, async ({ actor, params }) =>
        signAgain(deps, actor, params.id),
      );
      api.get("/delivery-settings", { schema: {} }, async ({ actor }) => ({
        ownUrl: actor.cdnUrl,
        cdnUrl: deps.config.cdnUrl,
        publicUrl: deps.config.publicUrl,
        purge: deps.config.cdnPurge?.driver ?? null,
      }));
      api.get("/rate-limits", { schema: {} }, async ({ actor }) => {
        const limit = (bucket: RateBucket) => rateLimitFor(actor, bucket, deps.config.rateLimits);
        return { upload: limit("upload"), transform: limit("transform"), other: limit("other") };
      });
      api.post("/routers/:id/test", { schema: { params: IdParam } }, async ({ actor, params }) => ({
        delivery: await sendTestEvent(deps, actor, params.id),
      }));
    },
    { prefix: "/in/:projectId/:environment" },
  );
}

interface WorkspaceParams {
  projectId: string;
  environment: string;
  id?: string;
}

function targetOf(request: FastifyRequest): { projectId: string; environment: Environment } {
  const { projectId, environment, id } = request.params as WorkspaceParams;
  const known = ENVIRONMENTS.find((name) => name === environment);
  // The routes of a project name it once more; here that is never another one.
  const namesAnother = (request.routeOptions.url ?? "").includes("/projects/:id") && id !== projectId;
  if (known === undefined || namesAnother) throw notFound("Project");
  return { projectId, environment: known };
}

/** Whoever may see a project may not see what signs its webhooks. */
function roleFor({ method, routeOptions }: FastifyRequest): Role {
  const isSecret = (routeOptions.url ?? "").includes("/signing-keys");
  return (method === "GET" || method === "HEAD") && !isSecret ? "viewer" : "developer";
}

/** The described API is the one with keys. */
function undocumented(app: ApiApp): ApiApp {
  const add = (method: "get" | "post" | "patch" | "delete") => ({
    [method]: (path: string, options: RouteShorthandOptions, handler: never) =>
      app[method](path, { ...options, schema: { ...options.schema, hide: true } }, handler),
  });
  return Object.assign(Object.create(app), add("get"), add("post"), add("patch"), add("delete"));
}
