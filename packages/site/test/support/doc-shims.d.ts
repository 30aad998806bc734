// What the examples take from packages that this repository does not install, as those packages declare it.

declare module "*.css";

declare module "@hono/node-server" {
  export function serve(options: {
    fetch: (request: Request) => Response | Promise<Response>;
    port?: number;
  }): unknown;
}

declare module "@hono/node-server/serve-static" {
  import type { MiddlewareHandler } from "hono";
  export function serveStatic(options: { root: string }): MiddlewareHandler;
}

declare module "@fastify/static" {
  import type { FastifyPluginCallback } from "fastify";

  const fastifyStatic: FastifyPluginCallback<{ root: string }>;
  export default fastifyStatic;
}

declare module "react-router" {
  import type { FunctionComponent } from "react";
  export const Links: FunctionComponent;
  export const Meta: FunctionComponent;
  export const Outlet: FunctionComponent;
  export const Scripts: FunctionComponent;
  export const ScrollRestoration: FunctionComponent;
}

declare module "@react-router/dev/routes" {
  export type RouteConfig = unknown[];
  export function index(file: string): unknown;
  export function route(path: string, file: string): unknown;
}

declare module "@sveltejs/kit/env" {
  export function defineEnvVars(
    variables: Record<string, { schema: (value: string | undefined) => string | undefined }>,
  ): unknown;
}

declare module "astro:env/server" {
  export function getSecret(name: string): string | undefined;
}

declare module "$app/env/private" {
  export const UPSTOW_URL: string | undefined;
  export const UPSTOW_API_KEY: string | undefined;
  export const UPSTOW_WEBHOOK_URL: string | undefined;
  export const UPSTOW_SIGNING_KEY: string | undefined;
  export const UPSTOW_NEXT_SIGNING_KEY: string | undefined;
}

declare function $state<T>(initial: T): T;
declare function $effect(run: () => unknown): void;

declare module "@vitejs/plugin-react" {
  import type { PluginOption } from "vite";
  export default function react(): PluginOption;
}
