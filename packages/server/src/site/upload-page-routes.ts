import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { limitGuessing } from "../files/uploads/doors/door-routes.ts";
import { checkOpen, getHeldGrant } from "../files/uploads/grants/grant.ts";
import { getGrantedRoute, largestFile } from "../files/uploads/request-upload.ts";
import { pageSources } from "../http/static-file.ts";
import { type LoadSite, pageHeaders, policyFor } from "./routes.ts";

/** A form's URL as a link: opened in a browser, it is a page to upload with. */
export function uploadPageRoutes(app: FastifyInstance, deps: Deps, site: LoadSite): void {
  app.get<{ Params: { token: string } }>(
    "/form/:token",
    { schema: { hide: true }, config: { isPublic: true } },
    async (request, reply) => {
      const held = await getHeldGrant(deps, request.params.token).catch((error) =>
        limitGuessing(request, deps, error),
      );
      const { grant } = held;
      checkOpen(grant, deps.now());
      const route = await getGrantedRoute(deps, held);
      const html = (await site()).renderUpload({
        filesLeft: grant.max_files - grant.taken_files,
        maxBytes: largestFile(route, held),
        types: JSON.parse(grant.allowed_types ?? route.allowed_types),
      });
      const own = pageSources(deps.config, request);
      return reply
        .headers({
          ...pageHeaders,
          // The address is the secret.
          "referrer-policy": "no-referrer",
          "content-security-policy": policyFor(own, own("/resumable", "/resumable/")),
          "cache-control": "no-store",
          "x-robots-tag": "noindex",
        })
        .type("text/html; charset=utf-8")
        .send(html);
    },
  );
}
