import { CONTENT_TYPE_MAX, PATH_PARAM_MAX, SLUG_MAX, TIERS, Type } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../../deps.ts";
import { errorBody, toAppError } from "../../../http/error-handler.ts";
import { type ApiApp, typed } from "../../../http/request-context.ts";
import { AppError, invalid, notFound } from "../../../kernel/errors.ts";
import type { LastUsed } from "../../../projects/api-keys/authenticate.ts";
import { cdnFor } from "../../../projects/file-url.ts";
import { toCompletedFile } from "../../serialize.ts";
import { shortenName } from "../file-name.ts";
import { appendFirst, appendTo, WrongOffset } from "../resumable/append.ts";
import type { ResumableUpload } from "../resumable/queries.ts";
import { cancelResumable, openResumable } from "../resumable/uploads.ts";
import { expiresAt } from "../rules.ts";
import { contentLengthOf, fileType, readContentDigest, readCount, readDisposition } from "./door-headers.ts";
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

/** Draft versions with the same messages: 03, 04 to 05, and from 09. */
const interopVersions = ["5", "6", "8"];
const appendType = "application/partial-upload";
const problems = "https://iana.org/assignments/http-problem-types#";
const cors = {
  methods: "POST, HEAD, GET, PATCH, DELETE, OPTIONS",
  exposed: `Location, Upload-Offset, Upload-Complete, Upload-Length, Upload-Limit, Upload-Draft-Interop-Version, X-Request-Id, ${fileHeaderNames}`,
};
const schema = { hide: true };
const params = Type.Object({ token: Type.String({ maxLength: PATH_PARAM_MAX }) });
const querystring = Type.Object({
  route: Type.Optional(Type.String({ minLength: 1, maxLength: SLUG_MAX })),
});

/** A problem of the draft, whose body has the usual error as a member. */
class Problem extends AppError {
  readonly problem: { type: string; title: string; [member: string]: unknown };

  constructor(name: string, error: AppError, members: object = {}) {
    super(error.code, error.message, {
      status: error.status === 409 ? 409 : 400,
      headers: { ...error.headers, "upload-complete": "?0" },
      ...(error.suggestion === undefined ? {} : { suggestion: error.suggestion }),
    });
    this.problem = { type: problems + name, title: error.message, ...members };
  }
}

const inconsistent = () =>
  new Problem(
    "inconsistent-upload-length",
    new AppError("VALIDATION_ERROR", "The lengths of this upload contradict each other.", {
      suggestion: "Send the same Upload-Length each time, and exactly as many bytes.",
    }),
  );

/** Resumable uploads of the IETF draft, in the versions that clients and servers use. */
export function resumableRoutes(http: FastifyInstance, deps: Deps, lastUsed: LastUsed): void {
  http.register(async (scope) => {
    takeRawBodies(scope);
    allowPages(scope, cors);
    scope.addHook("onRequest", (request, reply, done) => {
      const version = request.headers["upload-draft-interop-version"];
      if (interopVersions.includes(String(version))) reply.header("upload-draft-interop-version", version);
      done();
    });
    answerWithProblems(scope, deps);
    addHandlers(typed(scope), createDoor(deps, lastUsed));
  });
}

/** 400 and 409 are problem documents with the usual error as a member. */
function answerWithProblems(scope: FastifyInstance, deps: Deps): void {
  scope.setErrorHandler((error, request, reply) => {
    const known = toAppError(error);
    reply.header("upload-limit", limitOf(deps));
    if (known.status !== 400 && known.status !== 409) throw error;
    const { problem = { type: "about:blank", title: known.message } } = known as Partial<Problem>;
    if (request.method === "PATCH") reply.header("upload-complete", "?0");
    return reply
      .code(known.status)
      .headers(known.headers)
      .type("application/problem+json")
      .serializer(JSON.stringify)
      .send({ ...problem, status: known.status, ...errorBody(known) });
  });
}

function addHandlers(app: ApiApp, door: Door): void {
  const about = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .code(204)
      .headers({ "upload-limit": limitOf(door.deps), "accept-patch": appendType })
      .send();
  const byToken = { schema: { ...schema, params } };
  app.options("/resumable", { schema }, about);
  app.options("/resumable/:token", byToken, about);
  app.post("/resumable", { schema: { ...schema, querystring } }, (request, reply) =>
    create(door, request, reply, request.query.route),
  );
  app.patch("/resumable/:token", byToken, (request, reply) =>
    patch(door, request, reply, request.params.token),
  );
  app.head("/resumable/:token", byToken, (request, reply) =>
    state(door, request, reply, request.params.token),
  );
  app.get("/resumable/:token", byToken, (request, reply) =>
    state(door, request, reply, request.params.token),
  );
  app.delete("/resumable/:token", byToken, (request, reply) =>
    cancel(door, request, reply, request.params.token),
  );
}

async function create(
  door: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  route: string | undefined,
): Promise<FastifyReply> {
  const { deps } = door;
  const { headers } = request;
  const isComplete = readComplete(headers);
  const length = readLength(headers);
  const contentLength = contentLengthOf(request);
  const said = isComplete ? (length ?? contentLength ?? undefined) : length;
  const contradicts =
    contentLength !== null &&
    length !== undefined &&
    (contentLength > length || (isComplete && contentLength < length));
  const uploader = await door.identify(request, reply);
  // A file that is too large is that first.
  if (contradicts && length <= TIERS[uploader.actor.tier].maxFileSizeBytes) throw inconsistent();
  const upload = await openResumable(deps, uploader, {
    fileName: shortenName(readDisposition(headers["content-disposition"]) || "upload"),
    fileSize: said ?? null,
    contentType: fileType(headers["content-type"]?.slice(0, CONTENT_TYPE_MAX)),
    routeSlug: route ?? "default",
    metadata: {},
  });
  request.fileId = upload.id;
  const location = door.locationOf("resumable", upload);
  tellEarly(request, reply, { location, "upload-limit": limitOf(deps, upload) });
  const appended = await appendFirst(deps, uploader, upload, () =>
    append(deps, request, upload, { offset: 0, isComplete, length }),
  );
  return finish(deps, reply.headers({ location, "upload-limit": limitOf(deps, upload) }), appended, 201);
}

async function append(
  deps: Deps,
  request: FastifyRequest,
  upload: ResumableUpload,
  given: { offset: number; isComplete: boolean; length: number | undefined },
): Promise<ResumableUpload> {
  const { offset, isComplete } = given;
  const contentLength = contentLengthOf(request);
  const problem = findContradiction(upload, { ...given, contentLength });
  if (problem === "too-long") await cancelResumable(deps, upload);
  if (problem !== null) throw inconsistent();
  try {
    const done = await appendTo(deps, upload, {
      offset,
      stream: request.raw,
      contentLength,
      length: given.length,
      endsFile: isComplete,
      checksum: readContentDigest(request.headers["content-digest"]),
      isOwned: true,
      staysOpen: !isComplete,
    });
    if (isComplete && done.status !== "UPLOADED") throw inconsistent();
    return done;
  } catch (error) {
    if (!(error instanceof WrongOffset)) throw error;
    const members = { "expected-offset": error.offset, "provided-offset": offset };
    throw new Problem("mismatching-upload-offset", error, members);
  }
}

async function patch(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const { deps } = door;
  const { headers } = request;
  const upload = await findByToken(door, request, token);
  // Clients of the first versions send any type.
  const type = headers["content-type"];
  if (type !== appendType && (type !== undefined || isRecent(request)))
    throw new AppError("VALIDATION_ERROR", `The Content-Type must be ${appendType}.`, {
      status: 415,
      suggestion: `Send the header 'Content-Type: ${appendType}'.`,
    });
  const offset = readCount(headers["upload-offset"]);
  if (typeof offset !== "number") throw invalid("Upload-Offset", "must be a whole number");
  const isComplete = readComplete(headers);
  const given = { offset, isComplete, length: readLength(headers) };
  return finish(deps, reply, await append(deps, request, upload, given), 204);
}

/** The last response is that of the whole file, whichever request it belongs to. */
function finish(deps: Deps, reply: FastifyReply, upload: ResumableUpload, openStatus: number): FastifyReply {
  reply.headers({ ...stateOf(upload), ...fileHeaders(deps, upload) });
  if (upload.status !== "UPLOADED") return reply.code(openStatus).send();
  return reply
    .code(200)
    .serializer(JSON.stringify)
    .type("application/json; charset=utf-8")
    .send({ file: toCompletedFile(cdnFor(deps.config, upload), upload) });
}

async function state(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const { deps } = door;
  const { headers } = request;
  for (const name of ["upload-offset", "upload-complete"])
    if (headers[name] !== undefined) throw invalid(name, "is not allowed when requesting the offset");
  const upload = await interruptByToken(door, request, token);
  return reply
    .code(204)
    .headers({
      ...stateOf(upload),
      ...fileHeaders(deps, upload),
      "cache-control": "no-store",
      "upload-limit": limitOf(deps, upload),
      ...(upload.length_bytes === null ? {} : { "upload-length": String(upload.length_bytes) }),
    })
    .send();
}

async function cancel(door: Door, request: FastifyRequest, reply: FastifyReply, token: string) {
  const upload = await interruptByToken(door, request, token);
  if (upload.status === "UPLOADED") throw notFound("An unfinished upload at this URL was");
  await cancelResumable(door.deps, upload);
  return reply.code(204).send();
}

function limitOf(deps: Deps, upload?: ResumableUpload): string {
  if (upload === undefined) return `max-size=${TIERS.enterprise.maxFileSizeBytes}, min-size=0`;
  const maxAgeSec = Math.max(0, Math.ceil((expiresAt(upload) - deps.now()) / 1000));
  return `max-size=${upload.size_bytes}, min-size=0, max-age=${maxAgeSec}`;
}

interface Lengths {
  offset: number;
  isComplete: boolean;
  length: number | undefined;
  contentLength: number | null;
}

/** Checks before the body is read. An upload that was sent too many bytes can't be completed. */
function findContradiction(upload: ResumableUpload, given: Lengths): "too-long" | "other" | null {
  const { length_bytes: known, offset_bytes, status } = upload;
  if (known === null || status === "UPLOADED") return null;
  if (given.length !== undefined && given.length !== known) return "other";
  if (given.offset !== offset_bytes || given.contentLength === null) return null;
  const end = given.offset + given.contentLength;
  if (end > known) return "too-long";
  return given.isComplete && end < known ? "other" : null;
}

const stateOf = (upload: ResumableUpload) => ({
  "upload-offset": String(upload.offset_bytes),
  "upload-complete": upload.status === "UPLOADED" ? "?1" : "?0",
});

const isRecent = ({ headers }: FastifyRequest) => headers["upload-draft-interop-version"] !== "5";

/** Lets a client that loses the connection find its upload again. Only for those that expect it. */
function tellEarly(request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>): void {
  const version = request.headers["upload-draft-interop-version"];
  if (!interopVersions.includes(String(version)) || request.raw.httpVersion !== "1.1") return;
  writeInformation(reply, { ...headers, "upload-draft-interop-version": String(version) });
}

/** Node's types do not know it yet. */
function writeInformation({ raw }: FastifyReply, headers: Record<string, string>): void {
  const { writeInformation: write } = raw as unknown as {
    writeInformation?: (status: number, headers: Record<string, string>) => void;
  };
  write?.call(raw, 104, headers);
}

/** A structured boolean; null if there is none. */
function readFlag(value: string | string[] | undefined): boolean | null {
  if (value === "?1") return true;
  return value === "?0" ? false : null;
}

function readComplete(headers: FastifyRequest["headers"]): boolean {
  const isComplete = readFlag(headers["upload-complete"]);
  if (isComplete !== null) return isComplete;
  const suggestion =
    "Version 3 of the draft, which says Upload-Incomplete, is not supported: use version 5, 6 or 8.";
  throw invalid(
    "Upload-Complete",
    "must be ?0 or ?1",
    headers["upload-incomplete"] === undefined ? undefined : suggestion,
  );
}

function readLength(headers: FastifyRequest["headers"]): number | undefined {
  const length = readCount(headers["upload-length"]);
  if (length === null) throw invalid("Upload-Length", "must be a whole number");
  return length;
}
