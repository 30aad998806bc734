import type {
  ApiKey,
  CreatedKey,
  CreatedProject,
  CreateKeyBody,
  CreateProjectBody,
  CreateRouterBody,
  ProjectListItem,
  ProjectWithSettings,
  Router,
  UpdateProjectBody,
  UpdateRouterBody,
} from "../wire/projects.ts";
import type { DeliveryDetail } from "../wire/webhooks.ts";
import { type PostOptions, pathTo, pick, type Request, type RequestOptions } from "./request.ts";

export function createProjects(request: Request) {
  const one = pick<"project", ProjectWithSettings>(request, "project");
  return {
    list: (options?: RequestOptions) =>
      pick<"projects", ProjectListItem[]>(request, "projects")("GET", "/projects", options),
    get: (id: string, options?: RequestOptions) => one("GET", pathTo("projects", id), options),
    /** With `createKeys`, the response contains the first keys as `keys`; their secrets are shown only this once. */
    async create(body: CreateProjectBody, options?: PostOptions) {
      const { project, ...made } = await request<CreatedProject>("POST", "/projects", options, body);
      return { ...project, ...made };
    },
    update: (id: string, body: UpdateProjectBody, options?: RequestOptions) =>
      one("PATCH", pathTo("projects", id), options, body),
    /** Revokes the project's keys; its files are kept. */
    async delete(id: string, options?: RequestOptions) {
      await request("DELETE", pathTo("projects", id), options);
    },
  };
}

/** File routes define accepted types, size limits and a webhook. */
export function createRouters(request: Request) {
  const one = pick<"router", Router>(request, "router");
  return {
    list: (projectId: string, options?: RequestOptions) =>
      pick<"routers", Router[]>(request, "routers")(
        "GET",
        pathTo("projects", projectId, "/routers"),
        options,
      ),
    create: (projectId: string, body: CreateRouterBody, options?: PostOptions) =>
      one("POST", pathTo("projects", projectId, "/routers"), options, body),
    get: (id: string, options?: RequestOptions) => one("GET", pathTo("routers", id), options),
    update: (id: string, body: UpdateRouterBody, options?: RequestOptions) =>
      one("PATCH", pathTo("routers", id), options, body),
    async delete(id: string, options?: RequestOptions) {
      await request("DELETE", pathTo("routers", id), options);
    },
    /** Sends a signed test event to the route's webhook and returns the outcome. */
    test: (id: string, options?: PostOptions) =>
      pick<"delivery", DeliveryDetail>(request, "delivery")("POST", pathTo("routers", id, "/test"), options),
  };
}

export function createKeys(request: Request) {
  return {
    list: (projectId: string, options?: RequestOptions) =>
      pick<"keys", ApiKey[]>(request, "keys")("GET", pathTo("projects", projectId, "/keys"), options),
    /** The secret is shown only this once. */
    create: (projectId: string, body: CreateKeyBody = {}, options?: PostOptions) =>
      request<CreatedKey>("POST", pathTo("projects", projectId, "/keys"), options, body),
    async revoke(id: string, options?: RequestOptions) {
      await request("DELETE", pathTo("keys", id), options);
    },
  };
}
