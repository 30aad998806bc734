// What the examples take from packages that this repository does not install, as those packages declare it.

declare module "*.css";

declare module "@hono/node-server" {
  export function serve(options: {
    fetch: (request: Request) => Response | Promise<Response>;
    port?: number;
  }): unknown;
}

declare module "@sveltejs/kit/env" {
  export function defineEnvVars(
    variables: Record<string, { schema: (value: string | undefined) => string | undefined }>,
  ): unknown;
}

declare module "astro:env/server" {
  export function getSecret(name: string): string | undefined;
}

declare module "$env/dynamic/private" {
  export const env: Record<string, string | undefined>;
}

declare function $state<T>(initial: T): T;
declare function $effect(run: () => unknown): void;
