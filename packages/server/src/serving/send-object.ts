import { Readable } from "node:stream";
import type { Environment } from "@upstow/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { signalGone } from "../http/request-context.ts";
import { AppError, fileNotFound } from "../kernel/errors.ts";
import type { ByteRange, ObjectBytes } from "../storage/object-store.ts";
import { sharedCacheHeaders } from "./purge.ts";
import { contentDisposition, findRedirect, servedType, typePolicy } from "./safe-type.ts";
import {
  failsPrecondition,
  findHandover,
  isNotModified,
  isRangeCurrent,
  parseRange,
  type RangeAnswer,
  sendStream,
} from "./send-stream.ts";
import { type ObjectOfFile, readObject, readStored } from "./stored-bytes.ts";
import { createWholeAnswers, sendWhole } from "./whole-answers.ts";

export const crossOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ETag, Content-Range, Content-Length, Accept-Ranges",
  "cross-origin-resource-policy": "cross-origin",
};

/** The URL is the key to a private file: keep it out of referrers and search engines. */
export const secretAddress = { "referrer-policy": "no-referrer", "x-robots-tag": "noindex" };
const privacyHeaders: Record<ServedObject["privacy"], Record<string, string>> = {
  public: { "cache-control": "public, max-age=0, must-revalidate" },
  private: { "cache-control": "private, max-age=0, must-revalidate", ...secretAddress },
  unrepeatable: { "cache-control": "no-store", ...secretAddress },
};

/** Smaller reads finish before they could be cancelled. */
const longBytes = 64 * 1024;

/** The stored object behind a URL: a file, or a variant of it. */
export interface ServedObject extends ObjectOfFile {
  fileId: string;
  /** Who may cache it: everyone, the reader only, or nobody. */
  privacy: "public" | "private" | "unrepeatable";
  /** Send it as a download. */
  isDownload?: boolean;
  /**
   * Whether a purgeable shared cache may keep it. Not if it expires by itself or depends on other headers, because not
   * every CDN respects Vary.
   */
  mayBeShared: boolean;
  /** Whether this object always means the same bytes, without additional headers. */
  isLasting: boolean;
  /** When the file is gone, so that no cache keeps it longer; null if it stays. */
  endsAtMs: number | null;
  /** Rendered again if it is gone, instead of moved. */
  isVariant?: boolean;
  /** The name of its store. */
  store: string;
  sizeBytes: number;
  etag: string;
  modifiedMs: number;
  contentType: string;
  fileName: string;
  projectId: string;
  environment: Environment;
}

const whole = createWholeAnswers();

/** Handles GET and HEAD with conditions, one byte range, safe types and counted bytes. */
export function sendObject(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  object: ServedObject,
): Promise<FastifyReply> | undefined {
  request.fileId = object.fileId;
  const answer = whole.find(object, request);
  if (answer === undefined)
    return sendAsAsked(deps, request, reply, object).catch((error) => {
      // An error is not the file: no cache may keep it under the file's tag, or revalidate it by its ETag.
      clearHeaders(reply);
      reply.header("cache-control", "no-store");
      throw error;
    });
  deps.bandwidth.count(object.projectId, object.environment, answer.bytes.length);
  sendWhole(reply, answer);
  return undefined;
}

async function sendAsAsked(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  object: ServedObject,
): Promise<FastifyReply> {
  const { sizeBytes } = object;
  const description = describe(deps, object);
  const validators = toValidators(object);
  reply.headers(description.headers);
  if (failsPrecondition(request.headers, validators)) throw preconditionFailed();
  if (isNotModified(request.headers, validators)) return sendNoBody(reply.code(304));
  if (request.method === "HEAD") return sendHead(deps, reply, object, description);

  const asked = findRange(request, object);
  if (asked === "none") throw rangeNotSatisfiable(sizeBytes);
  const range = asked === "all" ? { start: 0, end: sizeBytes - 1 } : asked;
  const length = range.end - range.start + 1;

  const isOwn = object.store === deps.store.name;
  const handover =
    isOwn && deps.config.sendfile !== null ? await findHandover(deps, request, object.storeKey, asked) : null;
  if (handover !== null) {
    // The proxy handles ranges itself, and says so.
    reply.removeHeader("accept-ranges");
    deps.bandwidth.count(object.projectId, object.environment, length);
    return reply.type(description.type).header(handover.header, handover.path).send();
  }
  // A bucket URL could be used more often than the link allows.
  const mayRedirect = isOwn && object.privacy !== "unrepeatable";
  const address = mayRedirect ? findRedirect(deps, object, secondsLeft(deps, object)) : null;
  if (address !== null) {
    deps.bandwidth.count(object.projectId, object.environment, length);
    clearHeaders(reply);
    return reply.header("cache-control", "no-store").redirect(address, 302);
  }
  const bytes = await readBytes(deps, object, range, reply);
  const count = (sent: number) => deps.bandwidth.count(object.projectId, object.environment, sent);
  if (asked !== "all")
    reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${sizeBytes}`);
  reply.header("content-type", description.type).header("content-length", length);
  if (!Buffer.isBuffer(bytes)) {
    await sendStream(reply, bytes, length, count);
    return reply;
  }
  count(bytes.length);
  if (asked === "all" && object.isLasting && isSteady(deps, object) && deps.config.sendfile === null) {
    const own = { "content-type": description.type, "content-length": String(length) };
    whole.keep(object, { ...description.headers, ...own }, bytes);
  }
  return reply.send(bytes);
}

/** The bytes that a GET asks for. */
export function findRange({ headers }: FastifyRequest, object: ServedObject): RangeAnswer {
  return isRangeCurrent(headers, toValidators(object)) ? parseRange(headers.range, object.sizeBytes) : "all";
}

const toValidators = ({ etag, modifiedMs }: ServedObject) => ({ etag: `"${etag}"`, modifiedMs });

interface Description {
  type: string;
  headers: Record<string, string>;
}

const descriptions = new WeakMap<ServedObject, Description>();

/** Whether its headers stay the same: how long a shared cache may keep a file that ends changes all the time. */
function isSteady({ config }: Deps, { endsAtMs, mayBeShared }: ServedObject): boolean {
  return endsAtMs === null || !mayBeShared || config.cdnPurge === null;
}

function secondsLeft({ now }: Deps, { endsAtMs }: ServedObject): number {
  return endsAtMs === null ? Number.POSITIVE_INFINITY : Math.floor((endsAtMs - now()) / 1000);
}

/** Built once for an object that is sent many times, because it takes longer than reading it. */
function describe(deps: Deps, object: ServedObject): Description {
  if (!isSteady(deps, object)) return createDescription(deps, object);
  let description = descriptions.get(object);
  if (description === undefined) {
    description = createDescription(deps, object);
    descriptions.set(object, description);
  }
  return description;
}

function createDescription(deps: Deps, object: ServedObject): Description {
  const policy = typePolicy(object.contentType);
  const headers = {
    ...crossOrigin,
    ...privacyHeaders[object.privacy],
    ...(object.mayBeShared ? sharedCacheHeaders(deps.config, object.fileId, secondsLeft(deps, object)) : {}),
    etag: toValidators(object).etag,
    "last-modified": new Date(object.modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-disposition": contentDisposition(
      object.isDownload ? "attachment" : policy.disposition,
      object.fileName,
    ),
    ...(policy.contentSecurityPolicy === null
      ? {}
      : { "content-security-policy": policy.contentSecurityPolicy }),
  };
  return { type: servedType(object.contentType), headers };
}

/** Ranges only apply to GET (RFC 9110 §14.2). */
async function sendHead(
  deps: Deps,
  reply: FastifyReply,
  object: ServedObject,
  { type }: Description,
): Promise<FastifyReply> {
  const store = await deps.stores.get(object.store);
  const look = async ({ storeKey, storeEtag }: ObjectOfFile) => {
    const head = await store.head(storeKey);
    return head?.sizeBytes === object.sizeBytes && (storeEtag ?? head.etag) === head.etag ? head : null;
  };
  if (object.isVariant) found(await look(object));
  else await readStored(deps, readingOf(object), look);
  return sendNoBody(reply.type(type).header("content-length", object.sizeBytes));
}

/** For HEAD the framework would set the length of the empty body; for a stream it knows none. */
function sendNoBody(reply: FastifyReply): FastifyReply {
  return reply.send(reply.request.method === "HEAD" ? Readable.from([]) : undefined);
}

async function readBytes(
  deps: Deps,
  object: ServedObject,
  range: ByteRange,
  reply: FastifyReply,
): Promise<ObjectBytes> {
  const isLong = range.end - range.start >= longBytes;
  const store = await deps.stores.get(object.store);
  const signal = isLong ? signalGone(reply.raw) : undefined;
  if (!object.isVariant) return readObject(deps, readingOf(object), store, { range, signal });
  return found(await store.read(object.storeKey, { range, etag: object.storeEtag, signal }));
}

function readingOf(object: ServedObject) {
  return { fileId: object.fileId, object, isPublicRead: object.privacy === "public" };
}

function found<T>(variant: T | null): T {
  if (variant === null) throw fileNotFound();
  return variant;
}

function preconditionFailed(): AppError {
  return new AppError("VALIDATION_ERROR", "The file does not match If-Match or If-Unmodified-Since.", {
    status: 412,
    suggestion: "Request the file without the condition, and continue with its new ETag.",
  });
}

function rangeNotSatisfiable(sizeBytes: number): AppError {
  return new AppError("VALIDATION_ERROR", `The file has ${sizeBytes} bytes, none of them in this range.`, {
    status: 416,
    suggestion: "Request a range within the size in Content-Range.",
    headers: { "content-range": `bytes */${sizeBytes}` },
  });
}

/** Removes the headers that describe the file. */
function clearHeaders(reply: FastifyReply): void {
  for (const header of Object.keys(reply.getHeaders())) {
    if (!/^(?:access-control-|x-|vary$|referrer-policy$|strict-transport-)/.test(header))
      reply.removeHeader(header);
  }
}
