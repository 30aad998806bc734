import { Readable } from "node:stream";
import {
  CreateRouterBody,
  IdParam,
  Ok,
  Router,
  RouterList,
  RouterQuery,
  Type,
  UpdateRouterBody,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import { requireOwnProject } from "../projects.ts";
import { createRoute, deleteRoute, getRoute, updateRoute } from "./file-routes.ts";
import { listAllAsJson, listPage, toRouter } from "./find-route.ts";

const tags = ["file routes"];
const RouterEnvelope = Type.Object({ router: Router });

export function fileRouteRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/projects/:id/routers",
    {
      config: { ownProject: true, isLarge: true },
      schema: {
        tags,
        summary: "List the project's file routes",
        description: "All routes, newest first, or a page if limit or cursor is sent.",
        params: IdParam,
        querystring: RouterQuery,
        response: { 200: RouterList },
      },
    },
    async ({ actor, params, query }, reply) => {
      requireOwnProject(actor, params.id);
      if (query.limit !== undefined || query.cursor !== undefined) return listPage(deps, actor, query);
      const text = Readable.from(listAllAsJson(deps, actor));
      return reply.type("application/json; charset=utf-8").send(text as never);
    },
  );

  app.post(
    "/projects/:id/routers",
    {
      config: { ownProject: true, errors: ["DUPLICATE_SLUG"] },
      onRequest: async ({ actor, params }) => requireOwnProject(actor, params.id),
      schema: {
        tags,
        summary: "Create a file route",
        params: IdParam,
        body: CreateRouterBody,
        response: { 201: RouterEnvelope },
      },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const route = await createRoute(withAuthor(deps, request), actor, body, (tx, saved) =>
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
      config: { errors: ["DUPLICATE_SLUG"] },
      schema: {
        tags,
        summary: "Change a file route",
        params: IdParam,
        body: UpdateRouterBody,
        response: { 200: RouterEnvelope },
      },
    },
    async (request) => {
      const { actor, params, body } = request;
      return {
        router: toRouter(await updateRoute(withAuthor(deps, request), actor, params.id, body), actor),
      };
    },
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
    async (request) => {
      await deleteRoute(withAuthor(deps, request), request.actor, request.params.id);
      return { ok: true };
    },
  );
}
