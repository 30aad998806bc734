import type { ApiDocument, Site, SitePage } from "@upstow/site";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { version } from "../../version.ts";

/** Nothing from elsewhere, no inline script, no frame around it. */
const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-cache",
};

/** The welcome page and the documentation, rendered when somebody first looks. */
export function siteRoutes(app: FastifyInstance, deps: Deps, api: () => ApiDocument): void {
  const schema = { hide: true };
  let opening: Promise<Site> | undefined;
  const site = () => {
    opening ??= import("@upstow/site").then(({ openSite }) =>
      openSite({ publicUrl: deps.config.publicUrl, version, api: api() }),
    );
    return opening;
  };

  for (const path of ["/", "/docs", "/docs/*", "/assets/*", "/llms.txt"]) {
    app.get(path, { schema }, async (request, reply) => {
      const page = (await site()).find(request.url.split("?", 1)[0]?.replace(/(.)\/$/, "$1") ?? "/");
      if (page === null) throw noSuchPage();
      return sendPage(request, reply, page);
    });
  }

  app.get<{ Querystring: { q?: string } }>("/docs/search", { schema }, async (request, reply) =>
    sendPage(request, reply, (await site()).renderSearch(queryOf(request.query.q))),
  );
  app.get<{ Querystring: { q?: string } }>("/docs/search.json", { schema }, async (request) => ({
    results: (await site()).search(queryOf(request.query.q)),
  }));
}

function queryOf(given: unknown): string {
  return typeof given === "string" ? given.slice(0, 200) : "";
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: SitePage): FastifyReply {
  reply.headers({ ...pageHeaders, etag: page.etag });
  if (request.headers["if-none-match"] === page.etag) return reply.code(304).send();
  return reply.type(page.type).send(page.body);
}

function noSuchPage(): AppError {
  return new AppError("NOT_FOUND", "There is no such page.", { suggestion: "Start at /docs." });
}
