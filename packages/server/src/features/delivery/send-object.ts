import type { Readable } from "node:stream";
import type { Environment } from "@upstow/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { ByteRange } from "../../ports/object-store.ts";
import { type Conditions, isNotModified, isRangeCurrent } from "./conditional.ts";
import { contentDisposition } from "./content-disposition.ts";
import { parseRange } from "./range.ts";
import { typePolicy } from "./safe-type.ts";

export const crossOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Content-Range, Content-Length, Accept-Ranges",
  "cross-origin-resource-policy": "cross-origin",
};

/** Something in the store that a file's address stands for: the file itself, or a variant of it. */
export interface ServedObject {
  storeKey: string;
  sizeBytes: number;
  etag: string;
  modifiedMs: number;
  contentType: string;
  fileName: string;
  projectId: string;
  environment: Environment;
}

/** Answers GET and HEAD with conditions, one byte range, safe types and counted bytes. */
export async function sendObject(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  object: ServedObject,
): Promise<FastifyReply> {
  const { sizeBytes, modifiedMs } = object;
  const etag = `"${object.etag}"`;
  const policy = typePolicy(object.contentType);
  reply.headers({
    ...crossOrigin,
    etag,
    "last-modified": new Date(modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    "cache-control": "public, max-age=0, must-revalidate",
    "x-content-type-options": "nosniff",
    "content-disposition": contentDisposition(policy.disposition, object.fileName),
    ...(policy.contentSecurityPolicy === null
      ? {}
      : { "content-security-policy": policy.contentSecurityPolicy }),
  });
  const conditions = readConditions(request);
  if (isNotModified(conditions, etag, modifiedMs)) return reply.code(304).send();

  const isCurrent = isRangeCurrent(conditions, etag, modifiedMs);
  const asked = isCurrent ? parseRange(request.headers.range, sizeBytes) : "all";
  if (asked === "none") return reply.code(416).header("content-range", `bytes */${sizeBytes}`).send();
  const range = asked === "all" ? { start: 0, end: sizeBytes - 1 } : asked;
  if (asked !== "all")
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`);
  reply.header("content-type", object.contentType).header("content-length", range.end - range.start + 1);
  if (request.method === "HEAD") return reply.send();

  const stream = await openStream(deps, object.storeKey, range, request, reply);
  stream.on("data", (chunk: Buffer) =>
    deps.bandwidth.count(object.projectId, object.environment, chunk.length),
  );
  return reply.send(stream);
}

/** Stops reading when the client goes away. */
async function openStream(
  deps: Deps,
  storeKey: string,
  range: ByteRange,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Readable> {
  const gone = new AbortController();
  request.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const stream = await deps.store.read(storeKey, { range, signal: gone.signal });
  if (stream === null) {
    for (const header of ["content-length", "content-range", "content-disposition", "etag"])
      reply.removeHeader(header);
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

export function fileNotFound() {
  const error = notFound("File");
  error.headers["cache-control"] = "no-store";
  error.headers["access-control-allow-origin"] = "*";
  return error;
}
