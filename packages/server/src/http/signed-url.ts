import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../kernel/errors.ts";

/** A signed URL that cannot be read has been edited, like one with an invalid signature. */
export function editedSignedUrl({ routeOptions }: FastifyRequest): AppError | null {
  return routeOptions.config?.signedUrl === true ? edited() : null;
}

/** The same for a URL that the router could not decode, so that it has no route. */
export function watchSignedUrls(app: FastifyInstance): (url: string) => AppError | null {
  const prefixes = new Set<string>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.signedUrl === true) prefixes.add(url.replace(/[:*].*/, ""));
  });
  return (url) => ([...prefixes].some((prefix) => url.startsWith(prefix)) ? edited() : null);
}

function edited(): AppError {
  return new AppError("FORBIDDEN", "This URL is not as it was signed.");
}
