import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../kernel/errors.ts";

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Refuses unknown paths, and known ones with a wrong method, before anything of the body is read. Call before
 * routes are added.
 */
export function answerUnknownPaths(app: FastifyInstance): void {
  const known = new Map<string, { path: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", (route) => {
    const entry = known.get(route.url) ?? { path: toRegExp(route.url), methods: new Set() };
    for (const method of [route.method].flat()) entry.methods.add(method);
    known.set(route.url, entry);
  });

  function refuse({ url, method }: FastifyRequest): never {
    const path = pathOf(url);
    const named = known.get(path);
    const matching =
      named === undefined ? [...known.values()].filter((entry) => entry.path.test(path)) : [named];
    const allowed = order.filter((name) => matching.some((entry) => entry.methods.has(name)));
    // A path that ends where its wildcard begins looks known and is not.
    if (allowed.length === 0 || allowed.includes(method)) throw unknownPath();
    throw wrongMethod(allowed);
  }

  /** A parameter would take any word, but a path that is known by that word is no id: `/upload/multipart/init`. */
  function isOtherPath({ url, method, routeOptions }: FastifyRequest): boolean {
    if (routeOptions.url?.includes("/:") !== true) return false;
    return known.get(pathOf(url))?.methods.has(method) === false;
  }

  app.addHook("onRequest", (request, _reply, done) => {
    if (request.is404 || isOtherPath(request)) refuse(request);
    done();
  });
  app.setNotFoundHandler((request) => refuse(request));
}

const pathOf = (url: string) => (url.split("?", 1)[0] ?? "").replace(/\/$/, "");

export function unknownPath(): AppError {
  return new AppError("NOT_FOUND", "There is nothing at this path.", {
    suggestion: "Check the path; the API is described at /api/v1/openapi.json.",
  });
}

function wrongMethod(allowed: string[]): AppError {
  const allow = allowed.join(", ");
  return new AppError("METHOD_NOT_ALLOWED", "This path does not take that method.", {
    suggestion: `Use ${allow}.`,
    headers: { allow },
  });
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.replace(/\/$/, "").split("/");
  const source = parts.map((part) =>
    part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part),
  );
  return new RegExp(`^${source.join("/")}/?$`);
}
