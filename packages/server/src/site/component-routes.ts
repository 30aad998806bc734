import type { Gallery } from "@upstow/gallery";
import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { type PageSources, pageSources, sendStatic } from "../http/static-file.ts";
import { AppError } from "../kernel/errors.ts";
import { version } from "../kernel/version.ts";

const headers = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
};

/** No external and no inline resources; previews of selected files are the page's own blobs. */
function policyFor(own: PageSources): string {
  const assets = own("/components/assets/", "/assets/");
  return `default-src 'none'; script-src ${assets}; style-src ${assets}; font-src ${own("/assets/fonts/")}; img-src 'self' data: blob:; media-src blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

/** The live components, and the registry that serves their source. */
export function componentRoutes(app: FastifyInstance, deps: Deps): void {
  let opening: Promise<Gallery> | undefined;
  const gallery = () => {
    opening ??= import("@upstow/gallery").then(({ openGallery }) =>
      openGallery({ publicUrl: deps.config.publicUrl, version }),
    );
    return opening;
  };

  for (const path of ["/components", "/components/*", "/r/*"]) {
    app.get(path, { schema: { hide: true } }, async (request, reply) => {
      const wanted = request.url.split("?", 1)[0]?.replace(/(.)\/$/, "$1") ?? "";
      const page = (await gallery()).find(wanted);
      if (page === null) throw noSuchComponent();
      const policy = policyFor(pageSources(deps.config, request));
      return sendStatic(request, reply.headers({ ...headers, "content-security-policy": policy }), page);
    });
  }
}

function noSuchComponent(): AppError {
  return new AppError("NOT_FOUND", "Component not found.", { suggestion: "See /components for all." });
}
