import type { FastifyInstance } from "fastify";
import type { Deps } from "../deps.ts";
import { fileNotFound } from "../kernel/errors.ts";
import { isPurgeable, recallServedFile } from "./queries.ts";
import { crossOrigin, sendObject } from "./send-object.ts";
import { createServedFiles } from "./stored-bytes.ts";

/** Files at their CDN URL. The row is read on every hit, so that deletions take effect immediately. */
export function fileServingRoutes(app: FastifyInstance, deps: Deps): void {
  const schema = { hide: true };

  app.get<{ Params: { "*": string } }>(
    "/f/*",
    { schema, config: { customDomain: "own-files" } },
    async (request, reply) => {
      const file = await recallServedFile(deps, request.params["*"]);
      if (file === null || file.access === "private") throw fileNotFound();
      return sendObject(deps, request, reply, toServed(file));
    },
  );

  for (const path of ["/f/*", "/i/*", "/p/*", "/t/*", "/s/*", "/g/*"]) {
    app.options(path, { schema, config: { customDomain: "always" } }, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          ...crossOrigin,
          "access-control-allow-methods": "GET, HEAD",
          "access-control-allow-headers":
            "Range, If-Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since",
          "access-control-max-age": "86400",
        })
        .send(),
    );
  }
}

const toServed = createServedFiles((file) => ({ privacy: "public", mayBeShared: isPurgeable(file) }));
