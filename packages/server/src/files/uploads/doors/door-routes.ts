import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../kernel/errors.ts";
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
import { interruptUpload } from "../resumable/lease.ts";
import type { ResumableUpload } from "../resumable/queries.ts";
import { getResumable, uploadTokens } from "../resumable/uploads.ts";
import { typePattern } from "./door-headers.ts";

/** Shared by the handlers of a protocol. */
export interface Door {
  deps: Deps;
  /** Tokens in the URLs of uploads. */
  tokens: ReturnType<typeof uploadTokens>;
  identify: IdentifyUploader;
  /** Where a client continues an upload. Without a host, so that it stays on the one it used. */
  locationOf(door: "tus" | "resumable", upload: Pick<ResumableUpload, "id">): string;
}

export function createDoor(deps: Deps, lastUsed: LastUsed): Door {
  const tokens = uploadTokens(deps);
  // A proxy in front may serve us below a path, which only the public URL tells.
  const base = new URL(deps.config.publicUrl).pathname.replace(/\/$/, "");
  return {
    deps,
    tokens,
    identify: createUploaderCheck(deps, lastUsed),
    locationOf: (door, { id }) => `${base}/${door}/${tokens.sign(id)}`,
  };
}

export async function findByToken(
  { deps, tokens }: Door,
  request: FastifyRequest,
  token: string,
): Promise<ResumableUpload> {
  const id = tokens.read(token);
  request.fileId = id ?? undefined;
  return getResumable(deps, id);
}

/** Ends a request that still sends bytes, so that they are counted in what is returned. */
export async function interruptByToken(
  door: Door,
  request: FastifyRequest,
  token: string,
): Promise<ResumableUpload> {
  const found = await findByToken(door, request, token);
  await interruptUpload(door.deps, found);
  return getResumable(door.deps, found.id);
}

/** Who may open an upload at a door: the holder of an upload grant, or of an API key, whose calls are counted. */
type IdentifyUploader = (request: FastifyRequest, reply: FastifyReply) => Promise<Uploader>;

function createUploaderCheck(deps: Deps, lastUsed: LastUsed): IdentifyUploader {
  const checkKey = createKeyCheck(deps, lastUsed);
  const count = createUploadCount(deps);
  return async (request, reply) => {
    const token = presentedKey(request);
    if (token?.startsWith("upg_")) {
      const held = await getHeldGrant(deps, token).catch((error) => limitGuessing(request, deps, error));
      request.actor = held.actor;
      return held;
    }
    const actor = await checkKey(request).catch((error) => {
      throw nameGrants(error);
    });
    request.actor = actor;
    await new Promise<void>((resolve, reject) => {
      count.call(request.server, request, reply, (error) =>
        error === undefined ? resolve() : reject(error),
      );
    });
    return { actor, grant: null };
  };
}

/** Uploads come from browsers too, which must not be told to send an API key. */
function nameGrants(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "UNAUTHORIZED") return error;
  const suggestion =
    "Send the header 'Authorization: Bearer <token>' with the token of an upload grant, or on servers with an active API key.";
  return new AppError("UNAUTHORIZED", error.message, { suggestion });
}

/** Rethrows why a grant was refused, or that its address tries too many. */
export async function limitGuessing(request: FastifyRequest, deps: Deps, error: unknown): Promise<never> {
  throw error instanceof AppError && error.status === 401 ? await refuse(request, deps, error) : error;
}

/** Bodies stay unread, whatever their type: the handlers read them. An invalid type counts as unknown. */
export function takeRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  // Otherwise the framework would respond that bodies must be JSON.
  app.addHook("onRequest", (request, _reply, done) => {
    if (!typePattern.test(request.headers["content-type"] ?? "")) delete request.headers["content-type"];
    done();
  });
}

interface CorsRules {
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
