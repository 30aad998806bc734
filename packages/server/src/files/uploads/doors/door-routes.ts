import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../../deps.ts";
import { AppError, invalid } from "../../../kernel/errors.ts";
import {
  createKeyCheck,
  type LastUsed,
  presentedKey,
  refuse,
} from "../../../projects/api-keys/authenticate.ts";
import { createUploadCount } from "../../../projects/api-keys/rate-limit.ts";
import { cdnFor, fileUrl } from "../../../projects/file-url.ts";
import { getHeldGrant } from "../grants/grant.ts";
import type { Uploader } from "../request-upload.ts";
import type { ResumableUpload } from "../resumable/queries.ts";

/** Who may open an upload at a door: the holder of an upload grant, or of an API key, whose calls are counted. */
export type IdentifyUploader = (request: FastifyRequest, reply: FastifyReply) => Promise<Uploader>;

export function createUploaderCheck(deps: Deps, lastUsed: LastUsed): IdentifyUploader {
  const checkKey = createKeyCheck(deps, lastUsed);
  const count = createUploadCount(deps);
  return async (request, reply) => {
    const token = presentedKey(request);
    if (token?.startsWith("upg_")) {
      const held = await getHeldGrant(deps, token).catch((error) => explain(request, deps, error));
      request.actor = held.actor;
      return held;
    }
    const actor = await checkKey(request);
    request.actor = actor;
    await new Promise<void>((resolve, reject) => {
      count.call(request.server, request, reply, (error) =>
        error === undefined ? resolve() : reject(error),
      );
    });
    return { actor, grant: null };
  };
}

async function explain(request: FastifyRequest, deps: Deps, error: unknown): Promise<never> {
  throw error instanceof AppError && error.status === 401 ? await refuse(request, deps, error) : error;
}

/** Bodies stay unread, whatever their type: the door reads them itself. A type that is none counts as unknown. */
export function takeRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  // The framework would answer that bodies must be JSON.
  app.addHook("onRequest", (request, _reply, done) => {
    if (!typePattern.test(request.headers["content-type"] ?? "")) delete request.headers["content-type"];
    done();
  });
  app.decorateRequest("actor");
}

export interface CorsRules {
  methods: string;
  exposed: string;
}

/** Pages of any origin may use a door: it takes no cookies. */
export function allowPages(app: FastifyInstance, { methods, exposed }: CorsRules): void {
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("access-control-allow-origin", "*").header("access-control-expose-headers", exposed);
    const asked = request.headers["access-control-request-headers"];
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined)
      reply.headers({
        "access-control-allow-methods": methods,
        "access-control-allow-headers":
          asked !== undefined && /^[\w\-, ]+$/.test(asked) ? asked : "Authorization",
        "access-control-max-age": "86400",
        vary: "Access-Control-Request-Headers",
      });
    done();
  });
}

/** The names of a finished file, once its last byte has arrived. */
export function fileHeaders(deps: Pick<Deps, "config">, upload: ResumableUpload): Record<string, string> {
  if (upload.status !== "UPLOADED") return {};
  return {
    "upstow-file-id": upload.id,
    "upstow-file-key": encodeURIComponent(upload.key),
    "upstow-file-url": fileUrl(cdnFor(deps.config, upload), upload.key),
  };
}

export const fileHeaderNames = "Upstow-File-Id, Upstow-File-Key, Upstow-File-Url";

/** A whole number in a header; undefined if there is none, null if it is something else. */
export function readCount(value: string | string[] | undefined): number | undefined | null {
  if (value === undefined) return undefined;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** Null with chunked encoding, 0 without a body. */
export function contentLengthOf({ headers }: FastifyRequest): number | null {
  if (headers["transfer-encoding"] !== undefined) return null;
  return readCount(headers["content-length"]) ?? 0;
}

const typePattern = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+([ \t]*;[ -~]*)?$/;

/** The type a client states for its file; anything that is none counts as unknown. */
export function fileType(stated: string | undefined): string {
  return stated !== undefined && stated.length <= 255 && typePattern.test(stated)
    ? stated
    : "application/octet-stream";
}

/** The file name in a Content-Disposition: `filename*` in UTF-8 before `filename`, which may be quoted. */
export function readDisposition(header: string | undefined): string | null {
  if (header === undefined) return null;
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended === undefined ? null : decode(extended);
  if (decoded !== null) return clean(decoded);
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1];
  if (quoted !== undefined) return clean(asUtf8(quoted.replaceAll(/\\(.)/g, "$1")));
  const plain = /;\s*filename\s*=\s*([^;\s"]+)/i.exec(header)?.[1];
  return plain === undefined ? null : clean(asUtf8(plain));
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Node reads headers as Latin-1, and browsers send UTF-8. */
function asUtf8(text: string): string {
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

const clean = (name: string) => name.toWellFormed().replaceAll("\0", "");

export const checksumAlgorithms = ["sha1", "sha256", "md5", "crc32"] as const;

export interface Checksum {
  update(chunk: Buffer): void;
  verify(): void;
}

/** Of `<algorithm> <base64>`. A body that does not match is 460, and nothing of it is kept. */
export function readChecksum(header: string | string[] | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [algorithm = "", expected = "", ...rest] = String(header).split(" ");
  const known = checksumAlgorithms.find((name) => name === algorithm);
  const isBase64 = /^[A-Za-z0-9+/]{4,88}={0,2}$/.test(expected);
  if (known === undefined || !isBase64 || rest.length > 0)
    throw invalid(
      "Upload-Checksum",
      "must be an algorithm and a checksum in base64",
      `Algorithms: ${checksumAlgorithms.join(", ")}.`,
    );
  const sum = known === "crc32" ? createCrc32() : createSum(known);
  return {
    update: sum.update,
    verify() {
      if (sum.digest().equals(Buffer.from(expected, "base64"))) return;
      throw new AppError("VALIDATION_ERROR", "The checksum does not match the bytes that arrived.", {
        status: 460,
        suggestion: "Nothing of this request was kept. Send it again.",
      });
    },
  };
}

function createSum(algorithm: string) {
  const hash = createHash(algorithm);
  return { update: (chunk: Buffer) => void hash.update(chunk), digest: () => hash.digest() };
}

function createCrc32() {
  let value = 0;
  return {
    update(chunk: Buffer) {
      value = crc32(chunk, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}
