import type { FastifyInstance } from "fastify";
import { AppError } from "../kernel/errors.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** The error for a signed URL that cannot be parsed, because it was edited. Null for any other URL. */
    editedSignedUrl(url: string): AppError | null;
  }
}

/** Recognises signed URLs by the routes that declare them, because a URL that cannot be decoded has no route. */
export function watchSignedUrls(app: FastifyInstance): void {
  const prefixes = new Set<string>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.signedUrl === true) prefixes.add(url.replace(/[:*].*/, ""));
  });
  app.decorate("editedSignedUrl", (url) =>
    [...prefixes].some((prefix) => url.startsWith(prefix))
      ? new AppError("FORBIDDEN", "This URL is not as it was signed.")
      : null,
  );
}
