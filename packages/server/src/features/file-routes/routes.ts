import {
  CreateRouterBody,
  IdParam,
  Ok,
  Router,
  type Router as RouterAnswer,
  Type,
  UpdateRouterBody,
} from "@upstow/contract";
import type { FileRouteTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { isoTime } from "../../iso-time.ts";
import type { Actor } from "../api-keys/actor.ts";
import { requireOwnProject } from "../projects/own-project.ts";
import { createRoute, deleteRoute, getRoute, updateRoute } from "./file-routes.ts";
import { listRoutes } from "./queries.ts";

const tags = ["file routes"];
const RouterEnvelope = Type.Object({ router: Router });

export function fileRouteRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/projects/:id/routers",
    {
      schema: {
        tags,
        summary: "List the project's file routes",
        params: IdParam,
        response: { 200: Type.Object({ routers: Type.Array(Router) }) },
      },
    },
    async ({ actor, params }) => {
      requireOwnProject(actor, params.id);
      const rows = await deps.db.all(listRoutes, { projectId: actor.projectId });
      return { routers: rows.map((row) => toRouter(row, actor)) };
    },
  );

  app.post(
    "/projects/:id/routers",
    {
      onRequest: async ({ actor, params }) => requireOwnProject(actor, params.id),
      schema: {
        tags,
        summary: "Create a file route",
        params: IdParam,
        body: CreateRouterBody,
        response: { 201: RouterEnvelope },
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      const route = await createRoute(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 201, { router: toRouter(saved, actor) }),
      );
      return reply.code(201).send({ router: toRouter(route, actor) });
    },
  );

  app.get(
    "/routers/:id",
    { schema: { tags, summary: "Get a file route", params: IdParam, response: { 200: RouterEnvelope } } },
    async ({ actor, params }) => ({ router: toRouter(await getRoute(deps, actor, params.id), actor) }),
  );

  app.patch(
    "/routers/:id",
    {
      schema: {
        tags,
        summary: "Change a file route",
        params: IdParam,
        body: UpdateRouterBody,
        response: { 200: RouterEnvelope },
      },
    },
    async ({ actor, params, body }) => ({
      router: toRouter(await updateRoute(deps, actor, params.id, body), actor),
    }),
  );

  app.delete(
    "/routers/:id",
    {
      schema: {
        tags,
        summary: "Delete a file route; its files stay",
        params: IdParam,
        response: { 200: Ok },
      },
    },
    async ({ actor, params }) => {
      await deleteRoute(deps, actor, params.id);
      return { ok: true };
    },
  );
}

/** Where live events go is nothing for a test key, which may be in many hands. */
function toRouter(row: FileRouteTable, { environment }: Actor): RouterAnswer {
  return {
    id: row.id,
    projectId: row.project_id,
    slug: row.slug,
    allowedTypes: JSON.parse(row.allowed_types),
    maxFileSize: row.max_file_size_bytes,
    webhookUrl: environment === "test" && row.environment === "live" ? null : row.webhook_url,
    environment: row.environment,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
