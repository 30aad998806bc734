import type { ApiDocument, Site, SitePage } from "@upstow/site";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { type PageSources, pageSources } from "../http/page-sources.ts";
import { AppError } from "../kernel/errors.ts";
import { version } from "../kernel/version.ts";

const pageHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-cache",
};

/** No external and no inline resources, only the pages' own scripts and styles, and no framing. */
function policyFor(own: PageSources): string {
  const assets = own("/assets/");
  return `default-src 'none'; script-src ${assets}; style-src ${assets}; img-src 'self' data:; connect-src ${own("/api/v1/", "/docs/search.json")}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;
}

/** The welcome page and the documentation, rendered on first use. */
export function siteRoutes(app: FastifyInstance, deps: Deps, api: () => ApiDocument): void {
  const schema = { hide: true };
  let opening: Promise<Site> | undefined;
  const site = () => {
    opening ??= import("@upstow/site").then(({ openSite }) =>
      openSite({ publicUrl: deps.config.publicUrl, version, api }),
    );
    return opening;
  };

  function send(request: FastifyRequest, reply: FastifyReply, page: SitePage): FastifyReply {
    const policy = policyFor(pageSources(deps.config, request));
    reply.headers({ ...pageHeaders, "content-security-policy": policy, etag: page.etag });
    if (request.headers["if-none-match"] === page.etag) return reply.code(304).send();
    return reply.type(page.type).send(page.body);
  }

  for (const path of ["/", "/docs", "/docs/*", "/assets/*", "/llms.txt"]) {
    app.get(path, { schema }, async (request, reply) => {
      const page = (await site()).find(request.url.split("?", 1)[0]?.replace(/(.)\/$/, "$1") ?? "/");
      if (page === null) throw noSuchPage();
      return send(request, reply, page);
    });
  }

  app.get<{ Querystring: { q?: string } }>("/docs/search", { schema }, async (request, reply) =>
    send(request, reply, await (await site()).renderSearch(queryOf(request.query.q))),
  );
  app.get<{ Querystring: { q?: string } }>("/docs/search.json", { schema }, async (request) => ({
    results: await (await site()).search(queryOf(request.query.q)),
  }));
}

function queryOf(given: unknown): string {
  return typeof given === "string" ? given.slice(0, 200) : "";
}

function noSuchPage(): AppError {
  return new AppError("NOT_FOUND", "Page not found.", { suggestion: "Start at /docs." });
}
