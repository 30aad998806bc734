import { createHash } from "node:crypto";
import { CONTENT_TYPE_MAX, FILE_NAME_MAX, PATH_PARAM_MAX, SLUG_MAX, TIERS, Type } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../../deps.ts";
import { errorBody, toAppError } from "../../../http/error-handler.ts";
import { typed } from "../../../http/request-context.ts";
import { AppError, invalid, notFound } from "../../../kernel/errors.ts";
import type { LastUsed } from "../../../projects/api-keys/authenticate.ts";
import { cdnFor } from "../../../projects/file-url.ts";
import { toCompletedFile } from "../../serialize.ts";
import { appendFirst, appendTo, WrongOffset } from "../resumable/append.ts";
import { interruptUpload } from "../resumable/lease.ts";
import type { ResumableUpload } from "../resumable/queries.ts";
import { cancelResumable, getResumable, openResumable, uploadTokens } from "../resumable/uploads.ts";
import { expiresAt } from "../rules.ts";
import {
  allowPages,
  type Checksum,
  contentLengthOf,
  createUploaderCheck,
  fileHeaderNames,
  fileHeaders,
  fileType,
  readCount,
  readDisposition,
  takeRawBodies,
} from "./door-routes.ts";

/** Those whose messages are alike: draft versions 03, 04 to 05, and 09 on. */
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
    const identify = createUploaderCheck(deps, lastUsed);
    const tokens = uploadTokens(deps);

    scope.addHook("onRequest", (request, reply, done) => {
      const version = request.headers["upload-draft-interop-version"];
      if (interopVersions.includes(String(version))) reply.header("upload-draft-interop-version", version);
      done();
    });
    // 400 and 409 are problem documents with the usual error as a member.
    scope.setErrorHandler((error, request, reply) => {
      const known = toAppError(error);
      reply.header("upload-limit", limitOf());
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

    async function find(request: FastifyRequest, token: string): Promise<ResumableUpload> {
      const id = tokens.read(token);
      request.fileId = id ?? undefined;
      return getResumable(deps, id);
    }

    async function create(request: FastifyRequest, reply: FastifyReply, route: string | undefined) {
      const { headers } = request;
      const isComplete = readFlag(headers["upload-complete"]);
      if (isComplete === null) throw invalid("Upload-Complete", "must be ?0 or ?1");
      const length = readLength(headers);
      const contentLength = contentLengthOf(request);
      const said = isComplete ? (length ?? contentLength ?? undefined) : length;
      const contradicts =
        contentLength !== null &&
        length !== undefined &&
        (contentLength > length || (isComplete && contentLength < length));
      const uploader = await identify(request, reply);
      // A file that is too large is that first.
      if (contradicts && length <= TIERS[uploader.actor.tier].maxFileSizeBytes) throw inconsistent();
      const upload = await openResumable(deps, uploader, {
        fileName: readDisposition(headers["content-disposition"])?.slice(0, FILE_NAME_MAX) || "upload",
        fileSize: said ?? null,
        contentType: fileType(headers["content-type"]?.slice(0, CONTENT_TYPE_MAX)),
        routeSlug: route ?? "default",
        metadata: {},
      });
      request.fileId = upload.id;
      const location = `/resumable/${tokens.sign(upload.id)}`;
      tellEarly(request, reply, { location, "upload-limit": limitOf(upload) });
      const appended = await appendFirst(deps, uploader, upload, () =>
        append(request, upload, { offset: 0, isComplete, length }),
      );
      return finish(reply.headers({ location, "upload-limit": limitOf(upload) }), appended, 201);
    }

    async function append(
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

    async function patch(request: FastifyRequest, reply: FastifyReply, token: string) {
      const { headers } = request;
      const upload = await find(request, token);
      // Clients of the first versions send any type.
      const type = headers["content-type"];
      if (type !== appendType && (type !== undefined || isRecent(request)))
        throw new AppError("VALIDATION_ERROR", `The Content-Type must be ${appendType}.`, {
          status: 415,
          suggestion: `Send the header 'Content-Type: ${appendType}'.`,
        });
      const offset = readCount(headers["upload-offset"]);
      if (typeof offset !== "number") throw invalid("Upload-Offset", "must be a whole number");
      const isComplete = readFlag(headers["upload-complete"]);
      if (isComplete === null) throw invalid("Upload-Complete", "must be ?0 or ?1");
      return finish(
        reply,
        await append(request, upload, { offset, isComplete, length: readLength(headers) }),
        204,
      );
    }

    /** The last response is that of the whole file, whichever request it belongs to. */
    function finish(reply: FastifyReply, upload: ResumableUpload, openStatus: number): FastifyReply {
      reply.headers({ ...stateOf(upload), ...fileHeaders(deps, upload) });
      if (upload.status !== "UPLOADED") return reply.code(openStatus).send();
      return reply
        .code(200)
        .serializer(JSON.stringify)
        .type("application/json; charset=utf-8")
        .send({ file: toCompletedFile(cdnFor(deps.config, upload), upload) });
    }

    async function state(request: FastifyRequest, reply: FastifyReply, token: string) {
      const { headers } = request;
      for (const name of ["upload-offset", "upload-complete"])
        if (headers[name] !== undefined) throw invalid(name, "is not allowed in a request for the offset");
      const found = await find(request, token);
      await interruptUpload(deps, found);
      const upload = await getResumable(deps, found.id);
      return reply
        .code(204)
        .headers({
          ...stateOf(upload),
          ...fileHeaders(deps, upload),
          "cache-control": "no-store",
          "upload-limit": limitOf(upload),
          ...(upload.length_bytes === null ? {} : { "upload-length": String(upload.length_bytes) }),
        })
        .send();
    }

    async function cancel(request: FastifyRequest, reply: FastifyReply, token: string) {
      const found = await find(request, token);
      await interruptUpload(deps, found);
      const upload = await getResumable(deps, found.id);
      if (upload.status === "UPLOADED") throw notFound("An unfinished upload at this URL was");
      await cancelResumable(deps, upload);
      return reply.code(204).send();
    }

    const app = typed(scope);
    const about = async (_request: FastifyRequest, reply: FastifyReply) =>
      reply.code(204).headers({ "upload-limit": limitOf(), "accept-patch": appendType }).send();
    const byToken = { schema: { ...schema, params } };
    app.options("/resumable", { schema }, about);
    app.options("/resumable/:token", byToken, about);
    app.post("/resumable", { schema: { ...schema, querystring } }, (request, reply) =>
      create(request, reply, request.query.route),
    );
    app.patch("/resumable/:token", byToken, (request, reply) => patch(request, reply, request.params.token));
    app.head("/resumable/:token", byToken, (request, reply) => state(request, reply, request.params.token));
    app.get("/resumable/:token", byToken, (request, reply) => state(request, reply, request.params.token));
    app.delete("/resumable/:token", byToken, (request, reply) =>
      cancel(request, reply, request.params.token),
    );

    function limitOf(upload?: ResumableUpload): string {
      if (upload === undefined) return `max-size=${TIERS.enterprise.maxFileSizeBytes}, min-size=0`;
      const maxAgeSec = Math.max(0, Math.ceil((expiresAt(upload) - deps.now()) / 1000));
      return `max-size=${upload.size_bytes}, min-size=0, max-age=${maxAgeSec}`;
    }
  });
}

interface Lengths {
  offset: number;
  isComplete: boolean;
  length: number | undefined;
  contentLength: number | null;
}

/** What can be seen before the body. An upload that was sent too much is no longer any good. */
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

function readLength(headers: FastifyRequest["headers"]): number | undefined {
  const length = readCount(headers["upload-length"]);
  if (length === null) throw invalid("Upload-Length", "must be a whole number");
  return length;
}

/** RFC 9530. Algorithms that are not known are ignored, as it asks. */
function readContentDigest(header: string | string[] | undefined): Checksum | undefined {
  const found = /(?:^|,)\s*sha-(256|512)=:([A-Za-z0-9+/]+={0,2}):/.exec(String(header ?? ""));
  const [, bits, expected = ""] = found ?? [];
  if (bits === undefined) return undefined;
  const hash = createHash(`sha${bits}`);
  return {
    update: (chunk) => void hash.update(chunk),
    verify() {
      if (hash.digest().equals(Buffer.from(expected, "base64"))) return;
      throw invalid("Content-Digest", "does not match the bytes that arrived", "Send the request again.");
    },
  };
}
