import type { ApiDocument, Site, SitePage } from "@upstow/site";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import type { ErrorPages } from "../http/error-handler.ts";
import { type PageSources, pageSources, sendStatic } from "../http/static-file.ts";
import { AppError } from "../kernel/errors.ts";
import { version } from "../kernel/version.ts";
import { uploadPath } from "../storage/storage-key.ts";

export const pageHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
};

/** No external and no inline resources, only the pages' own scripts and styles, and no framing. */
export function policyFor(own: PageSources, calls: string, pictures = ""): string {
  const assets = own("/assets/");
  const rules = [
    "default-src 'none'",
    `script-src ${assets}`,
    `style-src ${assets}`,
    `font-src ${assets}`,
    `img-src 'self' data: ${pictures}`.trimEnd(),
    `connect-src ${calls}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return rules.join("; ");
}

const callsOf = (own: PageSources) => own("/api/v1/", "/docs/search.json", "/robots.txt");

/** Origins the welcome page uploads to and loads files from: this service or its bucket. */
async function findUploadSources({ config, store }: Deps): Promise<{ targets: string; pictures: string }> {
  const anyUpload = { key: "a", contentType: "text/plain", sizeBytes: 1, expiresInSec: 1 };
  const target = new URL(await store.presignPut(anyUpload)).origin;
  const { origin } = new URL(config.publicUrl);
  const isOwn = target === origin;
  return {
    targets: isOwn ? `${config.publicUrl}${uploadPath}` : target,
    pictures: isOwn ? `${config.cdnUrl}/f/` : `${config.cdnUrl}/f/ ${target}`,
  };
}

export type LoadSite = () => Promise<Site>;

/** Loaded on the first page request, because most processes only serve files. */
export function createSiteLoader({ config }: Pick<Deps, "config">, api: () => ApiDocument): LoadSite {
  let opening: Promise<Site> | undefined;
  return () => {
    opening ??= import("@upstow/site").then(({ openSite }) =>
      openSite({ publicUrl: config.publicUrl, version, api }),
    );
    return opening;
  };
}

/** Errors as pages, except on customers' domains, which serve nothing of this site. */
export function createErrorPages(deps: Pick<Deps, "config" | "customHosts">, site: LoadSite): ErrorPages {
  return async (error, request) => {
    if ((await deps.customHosts.findProject(request.host)) !== null) return null;
    const { status, message, suggestion, deadLink } = error;
    const shown = { status, message, suggestion, deadLink, requestId: request.id };
    const html = (await site()).renderError(shown);
    const own = pageSources(deps.config, request);
    const policy = policyFor(own, callsOf(own));
    return {
      html,
      headers: { ...pageHeaders, "content-security-policy": policy, "cache-control": "no-store" },
    };
  };
}

/** The welcome page and the documentation, rendered on first use. */
export function siteRoutes(app: FastifyInstance, deps: Deps, site: LoadSite): void {
  const schema = { hide: true };

  let uploads: ReturnType<typeof findUploadSources> | undefined;

  async function send(request: FastifyRequest, reply: FastifyReply, page: SitePage): Promise<FastifyReply> {
    const own = pageSources(deps.config, request);
    const policy =
      request.routeOptions.url === "/" ? await policyOfWelcome(own) : policyFor(own, callsOf(own));
    return sendStatic(request, reply.headers({ ...pageHeaders, "content-security-policy": policy }), page);
  }

  async function policyOfWelcome(own: PageSources): Promise<string> {
    uploads ??= findUploadSources(deps);
    const { targets, pictures } = await uploads;
    return policyFor(own, `${callsOf(own)} ${own("/welcome/")} ${targets}`, pictures);
  }

  for (const path of ["/", "/docs", "/docs/*", "/assets/*", "/llms.txt", "/robots.txt"]) {
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
