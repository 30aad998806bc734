import type { FastifyInstance } from "fastify";
import type { Deps } from "../../deps.ts";
import { nameFile } from "../files/name-file.ts";
import { findServedFile } from "./queries.ts";
import { crossOrigin, fileNotFound, sendObject } from "./send-object.ts";

/** Files at their CDN address. The row is looked at on every hit, so that a deletion holds at once. */
export function deliveryRoutes(app: FastifyInstance, deps: Deps): void {
  const schema = { hide: true };

  app.get<{ Params: { "*": string } }>("/f/*", { schema }, async (request, reply) => {
    const file = await deps.db.recall(findServedFile, nameFile(request.params["*"]));
    if (file === null) throw fileNotFound();
    return sendObject(deps, request, reply, {
      fileId: file.id,
      mayBeShared: true,
      storeKey: file.key,
      sizeBytes: file.size_bytes,
      etag: file.etag ?? "",
      modifiedMs: file.completed_at ?? 0,
      contentType: file.type,
      fileName: file.name,
      projectId: file.project_id,
      environment: file.environment,
    });
  });

  for (const path of ["/f/*", "/p/*", "/t/*"]) {
    app.options(path, { schema }, async (_request, reply) =>
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
