import { PATH_PARAM_MAX, TIERS, Type } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../../deps.ts";
import { type ApiApp, typed } from "../../../http/request-context.ts";
import { AppError, invalid } from "../../../kernel/errors.ts";
import type { LastUsed } from "../../../projects/api-keys/authenticate.ts";
import { appendFirst, appendTo, finishIfWhole } from "../resumable/append.ts";
import type { ResumableUpload } from "../resumable/queries.ts";
import { cancelResumable, openResumable } from "../resumable/uploads.ts";
import { expiresAt } from "../rules.ts";
import { checksumAlgorithms, contentLengthOf, readChecksum, readCount } from "./door-headers.ts";
import {
  allowPages,
  createDoor,
  type Door,
  fileHeaderNames,
  fileHeaders,
  findByToken,
  interruptByToken,
  takeRawBodies,
} from "./door-routes.ts";
import { joinPartials, readConcat, readUploadMetadata } from "./tus-headers.ts";

const version = "1.0.0";
const bodyType = "application/offset+octet-stream";
const extensions = [
  "creation",
  "creation-with-upload",
  "creation-defer-length",
  "termination",
  "expiration",
  "checksum",
];
const cors = {
  methods: "POST, HEAD, PATCH, DELETE, OPTIONS",
  exposed: `Upload-Offset, Location, Upload-Length, Upload-Metadata, Upload-Expires, Upload-Concat, Upload-Defer-Length, Tus-Version, Tus-Resumable, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm, X-Request-Id, ${fileHeaderNames}`,
};
const params = Type.Object({ token: Type.String({ maxLength: PATH_PARAM_MAX }) });
const schema = { hide: true };

/** Headers of the creation that HEAD has to repeat. */
interface Described {
  metadata?: string;
  concat?: string;
}

/** tus 1.0. An upload's URL is all that its client needs to continue; only creation takes a key or a grant. */
export function tusRoutes(http: FastifyInstance, deps: Deps, lastUsed: LastUsed): void {
  http.register(async (scope) => {
    takeRawBodies(scope);
    allowPages(scope, cors);
    requireVersion(scope);
    addHandlers(typed(scope), createDoor(deps, lastUsed));
  });
}

function requireVersion(scope: FastifyInstance): void {
  scope.addHook("onRequest", (request, reply, done) => {
    reply.header("tus-resumable", version);
    if (request.method === "OPTIONS" || request.headers["tus-resumable"] === version) return done();
    reply.header("tus-version", version);
    done(
      new AppError("VALIDATION_ERROR", "This is not a tus 1.0.0 request.", {
        status: 412,
        suggestion: `Send the header 'Tus-Resumable: ${version}'.`,
      }),
    );
  });
}

function addHandlers(app: ApiApp, door: Door): void {
  const { deps } = door;
  app.options("/tus", { schema }, async (_request, reply) => reply.headers(abilities(deps)).code(204).send());
  app.options("/tus/:token", { schema: { ...schema, params } }, async (_request, reply) =>
    reply.headers(abilities(deps)).code(204).send(),
  );
  app.post("/tus", { schema }, (request, reply) => create(door, request, reply));
  const byToken = { schema: { ...schema, params } };
  app.patch("/tus/:token", byToken, (request, reply) => patch(door, request, reply, request.params.token));
  app.head("/tus/:token", byToken, (request, reply) => head(door, request, reply, request.params.token));
  app.delete("/tus/:token", byToken, (request, reply) =>
    terminate(door, request, reply, request.params.token),
  );
  // For clients and proxies that know only GET and POST.
  app.post("/tus/:token", byToken, (request, reply) => {
    const { token } = request.params;
    const method = request.headers["x-http-method-override"];
    if (method === "PATCH") return patch(door, request, reply, token);
    if (method === "DELETE") return terminate(door, request, reply, token);
    if (method === "HEAD") return head(door, request, reply, token);
    throw invalid("X-HTTP-Method-Override", "must be PATCH, HEAD or DELETE here");
  });
}

function abilities(deps: Deps): Record<string, string> {
  const joins = deps.store.appends.joins !== undefined;
  return {
    "tus-version": version,
    "tus-extension": [...extensions, ...(joins ? ["concatenation"] : [])].join(","),
    "tus-max-size": String(TIERS.enterprise.maxFileSizeBytes),
    "tus-checksum-algorithm": checksumAlgorithms.join(","),
  };
}

async function create(door: Door, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { deps, tokens } = door;
  const uploader = await door.identify(request, reply);
  const { headers } = request;
  const described: Described = {};
  if (headers["upload-metadata"] !== undefined) described.metadata = String(headers["upload-metadata"]);
  const concat = readConcat(headers["upload-concat"]);
  if (concat !== null) described.concat = String(headers["upload-concat"]);
  const wanted = {
    ...readUploadMetadata(headers["upload-metadata"]),
    described: JSON.stringify(described),
  };
  let upload: ResumableUpload;
  if (concat?.kind === "final") upload = await joinPartials(deps, uploader, wanted, concat.ids(tokens));
  else upload = await openResumable(deps, uploader, { ...wanted, fileSize: readLength(headers) });
  request.fileId = upload.id;
  const hasBody = headers["content-type"] === bodyType && contentLengthOf(request) !== 0;
  if (hasBody && concat?.kind !== "final") {
    const opened = upload;
    upload = await appendFirst(deps, uploader, opened, () => append(deps, request, opened, 0));
    reply.header("upload-offset", upload.offset_bytes);
  } else if (concat?.kind !== "partial") upload = await finishIfWhole(deps, upload);
  const location = door.locationOf("tus", upload);
  return reply
    .code(201)
    .headers({ location, ...stateHeaders(upload), ...fileHeaders(deps, upload) })
    .send();
}

function append(
  deps: Deps,
  request: FastifyRequest,
  upload: ResumableUpload,
  offset: number,
  length?: number,
) {
  return appendTo(deps, upload, {
    offset,
    stream: request.raw,
    contentLength: contentLengthOf(request),
    length,
    checksum: readChecksum(request.headers["upload-checksum"]),
    isOwned: true,
    staysOpen: isPartial(upload),
  });
}

async function patch(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const { deps } = door;
  const { headers } = request;
  const found = await findByToken(door, request, token);
  if (headers["content-type"] !== bodyType)
    throw new AppError("VALIDATION_ERROR", `The Content-Type must be ${bodyType}.`, {
      status: 415,
      suggestion: `Send the header 'Content-Type: ${bodyType}'.`,
    });
  if (describedOf(found).concat?.startsWith("final"))
    throw new AppError("FORBIDDEN", "A final upload does not accept bytes.", {
      suggestion: "Send bytes to its partial uploads before concatenating them.",
    });
  const offset = readCount(headers["upload-offset"]);
  if (typeof offset !== "number") throw invalid("Upload-Offset", "must be a whole number");
  const length = readCount(headers["upload-length"]);
  if (length === null) throw invalid("Upload-Length", "must be a whole number");
  const upload = await append(deps, request, found, offset, length);
  return reply
    .code(204)
    .headers({
      "upload-offset": String(upload.offset_bytes),
      ...stateHeaders(upload),
      ...fileHeaders(deps, upload),
    })
    .send();
}

async function head(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const { deps } = door;
  const current = await interruptByToken(door, request, token);
  // After a crash between the last byte and the end.
  const upload = isPartial(current) ? current : await finishIfWhole(deps, current);
  const { metadata, concat } = describedOf(upload);
  return reply
    .code(200)
    .headers({
      "cache-control": "no-store",
      "upload-offset": String(upload.offset_bytes),
      ...(upload.length_bytes === null
        ? { "upload-defer-length": "1" }
        : { "upload-length": String(upload.length_bytes) }),
      ...(metadata === undefined ? {} : { "upload-metadata": metadata }),
      ...(concat === undefined ? {} : { "upload-concat": concat }),
      ...stateHeaders(upload),
      ...fileHeaders(deps, upload),
    })
    .send();
}

async function terminate(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const { deps } = door;
  await cancelResumable(deps, await interruptByToken(door, request, token));
  return reply.code(204).send();
}

const describedOf = (upload: ResumableUpload): Described => JSON.parse(upload.described);

const isPartial = (upload: ResumableUpload): boolean => describedOf(upload).concat === "partial";

function stateHeaders(upload: ResumableUpload): Record<string, string> {
  if (upload.status === "UPLOADED") return {};
  return { "upload-expires": new Date(expiresAt(upload)).toUTCString() };
}

/** Null where the client says it later. */
function readLength(headers: FastifyRequest["headers"]): number | null {
  const length = readCount(headers["upload-length"]);
  const deferred = headers["upload-defer-length"];
  if (deferred !== undefined && (deferred !== "1" || length !== undefined))
    throw invalid("Upload-Defer-Length", "must be 1, without an Upload-Length");
  if (deferred !== undefined) return null;
  if (typeof length !== "number") throw invalid("Upload-Length", "must be a whole number");
  return length;
}
