import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { ByteRange } from "../../ports/object-store.ts";
import { type Conditions, isNotModified, isRangeCurrent } from "./conditional.ts";
import { contentDisposition } from "./content-disposition.ts";
import { findServedFile } from "./queries.ts";
import { parseRange } from "./range.ts";
import { typePolicy } from "./safe-type.ts";

const crossOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Content-Range, Content-Length, Accept-Ranges",
  "cross-origin-resource-policy": "cross-origin",
};

/** Files at their CDN address. The row is looked at on every hit, so that a deletion holds at once. */
export function deliveryRoutes(app: FastifyInstance, deps: Deps): void {
  const schema = { hide: true };

  app.get<{ Params: { "*": string } }>("/f/*", { schema }, async (request, reply) => {
    const file = await deps.db.get(findServedFile, { key: request.params["*"] });
    if (file === null) throw fileNotFound();
    const { size_bytes: size, completed_at: completedAt } = file;
    const etag = `"${file.etag}"`;
    const modifiedMs = completedAt ?? 0;
    const policy = typePolicy(file.type);
    reply.headers({
      ...crossOrigin,
      etag,
      "last-modified": new Date(modifiedMs).toUTCString(),
      "accept-ranges": "bytes",
      "cache-control": "public, max-age=0, must-revalidate",
      "x-content-type-options": "nosniff",
      "content-disposition": contentDisposition(policy.disposition, file.name),
      ...(policy.contentSecurityPolicy === null
        ? {}
        : { "content-security-policy": policy.contentSecurityPolicy }),
    });
    const conditions = readConditions(request);
    if (isNotModified(conditions, etag, modifiedMs)) return reply.code(304).send();

    const asked = isRangeCurrent(conditions, etag, modifiedMs)
      ? parseRange(request.headers.range, size)
      : "all";
    if (asked === "none") return reply.code(416).header("content-range", `bytes */${size}`).send();
    const range = asked === "all" ? { start: 0, end: size - 1 } : asked;
    if (asked !== "all") reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${size}`);
    reply.header("content-type", file.type).header("content-length", range.end - range.start + 1);
    if (request.method === "HEAD") return reply.send();

    const stream = await openStream(deps, file.key, range, request, reply);
    stream.on("data", (chunk: Buffer) =>
      deps.bandwidth.count(file.project_id, file.environment, chunk.length),
    );
    return reply.send(stream);
  });

  app.options("/f/*", { schema }, async (_request, reply) =>
    reply
      .code(204)
      .headers({
        ...crossOrigin,
        "access-control-allow-methods": "GET, HEAD",
        "access-control-allow-headers": "Range, If-Range, If-None-Match, If-Modified-Since",
        "access-control-max-age": "86400",
      })
      .send(),
  );
}

/** Stops reading when the client goes away. */
async function openStream(
  deps: Deps,
  key: string,
  range: ByteRange,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Readable> {
  const gone = new AbortController();
  request.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const stream = await deps.store.read(key, { range, signal: gone.signal });
  if (stream === null) {
    reply.removeHeader("content-length").removeHeader("etag").removeHeader("content-range");
    throw fileNotFound();
  }
  return stream;
}

function readConditions({ headers }: FastifyRequest): Conditions {
  return {
    ifNoneMatch: headers["if-none-match"],
    ifModifiedSince: headers["if-modified-since"],
    ifRange: typeof headers["if-range"] === "string" ? headers["if-range"] : undefined,
  };
}

function fileNotFound() {
  const error = notFound("File");
  error.headers["cache-control"] = "no-store";
  error.headers["access-control-allow-origin"] = "*";
  return error;
}
