import type {
  ApiKey,
  CreatedKey,
  CreateKeyBody,
  CreateProjectBody,
  CreateRouterBody,
  Project,
  ProjectListItem,
  Router,
  UpdateProjectBody,
  UpdateRouterBody,
} from "../wire/projects.ts";
import type { DeliveryDetail } from "../wire/webhooks.ts";
import type { PostOptions, Request, RequestOptions } from "./request.ts";

const path = (collection: string, id: string, rest = "") => `/${collection}/${encodeURIComponent(id)}${rest}`;

export function createProjects(request: Request) {
  return {
    async list(options?: RequestOptions) {
      return (await request<{ projects: ProjectListItem[] }>("GET", "/projects", options)).projects;
    },
    async get(id: string, options?: RequestOptions) {
      return (await request<{ project: Project }>("GET", path("projects", id), options)).project;
    },
    async create(body: CreateProjectBody, options?: PostOptions) {
      return (await request<{ project: Project }>("POST", "/projects", { ...options, body })).project;
    },
    async update(id: string, body: UpdateProjectBody, options?: RequestOptions) {
      return (await request<{ project: Project }>("PATCH", path("projects", id), { ...options, body }))
        .project;
    },
    /** Revokes the project's keys; its files stay. */
    async delete(id: string, options?: RequestOptions) {
      await request("DELETE", path("projects", id), options);
    },
  };
}

/** File routes: which types and sizes a class of files may have, and who hears of them. */
export function createRouters(request: Request) {
  return {
    async list(projectId: string, options?: RequestOptions) {
      return (await request<{ routers: Router[] }>("GET", path("projects", projectId, "/routers"), options))
        .routers;
    },
    async create(projectId: string, body: CreateRouterBody, options?: PostOptions) {
      const to = path("projects", projectId, "/routers");
      return (await request<{ router: Router }>("POST", to, { ...options, body })).router;
    },
    async get(id: string, options?: RequestOptions) {
      return (await request<{ router: Router }>("GET", path("routers", id), options)).router;
    },
    async update(id: string, body: UpdateRouterBody, options?: RequestOptions) {
      return (await request<{ router: Router }>("PATCH", path("routers", id), { ...options, body })).router;
    },
    async delete(id: string, options?: RequestOptions) {
      await request("DELETE", path("routers", id), options);
    },
    /** Sends a signed test event to the route's webhook and shows what came back. */
    async test(id: string, options?: PostOptions) {
      return (await request<{ delivery: DeliveryDetail }>("POST", path("routers", id, "/test"), options))
        .delivery;
    },
  };
}

export function createKeys(request: Request) {
  return {
    async list(projectId: string, options?: RequestOptions) {
      return (await request<{ keys: ApiKey[] }>("GET", path("projects", projectId, "/keys"), options)).keys;
    },
    /** The secret is shown this once. */
    create: (projectId: string, body: CreateKeyBody = {}, options?: PostOptions) =>
      request<CreatedKey>("POST", path("projects", projectId, "/keys"), { ...options, body }),
    async revoke(id: string, options?: RequestOptions) {
      await request("DELETE", path("keys", id), options);
    },
  };
}
