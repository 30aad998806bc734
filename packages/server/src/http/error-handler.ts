import { ERROR_TEXT_MAX, type ErrorBody, type ErrorDetail, errorType } from "@upstow/contract";
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DatabaseReadOnly, DatabaseUnavailable } from "../db/database.ts";
import { AppError, notFound, StorageFull } from "../kernel/errors.ts";
import { http } from "../kernel/net/node-http.ts";
import { StorageUnavailable } from "../storage/object-store.ts";
import { ReadOnlyError } from "./read-only.ts";

/** The same failure as a page, for people who open a URL in a browser; null where none can be shown. */
export type ErrorPages = (error: AppError, request: FastifyRequest) => Promise<ErrorPage | null>;
export interface ErrorPage {
  html: string;
  headers: Record<string, string>;
}

export function answerErrorsInEnvelope(
  app: FastifyInstance,
  log: FastifyBaseLogger,
  pages?: ErrorPages,
): void {
  app.setErrorHandler(async (error, request, reply) => {
    if (pages === undefined || isForPrograms(request)) return sendError(error, request, reply, log);
    reply.header("vary", "Accept");
    const known = toAppError(error);
    const page = prefersPages(request) ? await pages(known, request).catch(() => null) : null;
    if (page === null) return sendError(error, request, reply, log);
    logFailure(known, error, request, log);
    return reply
      .code(known.status)
      .headers({ ...known.headers, ...page.headers })
      .type("text/html; charset=utf-8")
      .send(page.html);
  });
}

/** Browsers name HTML when a person opens a URL, and never for images, scripts or fetch. */
function prefersPages({ headers }: FastifyRequest): boolean {
  return /^text\/html\b/.test(headers.accept ?? "");
}

function isForPrograms({ method, url }: FastifyRequest): boolean {
  return (method !== "GET" && method !== "HEAD") || /^\/(?:dashboard\/)?api(?:[/?]|$)/.test(url);
}

function logFailure(known: AppError, error: unknown, request: FastifyRequest, log: FastifyBaseLogger): void {
  if (known.status >= 500 && !(known instanceof ReadOnlyError))
    log.error({ err: error, requestId: request.id }, "request failed");
}

export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: FastifyBaseLogger,
): FastifyReply {
  const known = toAppError(error);
  logFailure(known, error, request, log);
  return reply
    .code(known.status)
    .headers(known.headers)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(errorBody(known));
}

export function errorBody(error: AppError): ErrorBody {
  const { suggestion, details } = error;
  return {
    error: {
      type: errorType(error.status),
      code: error.code,
      message: cut(error.message),
      ...(suggestion === undefined || error.status === 429 ? {} : { suggestion: cut(suggestion) }),
      ...(details === undefined ? {} : { details: details.map(cutDetail) }),
    },
  };
}

/** Some messages quote the caller's input. */
function cut(text: string): string {
  return text.length <= ERROR_TEXT_MAX ? text : `${text.slice(0, ERROR_TEXT_MAX - 1)}…`;
}

function cutDetail({ path, message }: ErrorDetail): ErrorDetail {
  return { path: cut(path), message: cut(message) };
}

/** An error outside of any request, such as a header that Node could not parse, as bytes for the socket. */
export function rawErrorResponse(error: AppError, requestId: string): string {
  const body = JSON.stringify(errorBody(error));
  return [
    `HTTP/1.1 ${error.status} ${http.STATUS_CODES[error.status]}`,
    `X-Request-Id: ${requestId}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

/** The error that a caller sees. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof DatabaseReadOnly) return new ReadOnlyError();
  if (error instanceof DatabaseUnavailable || error instanceof StorageUnavailable) {
    return new AppError(
      "SERVICE_UNAVAILABLE",
      "The service cannot reach its database or storage right now.",
      {
        // If the connection broke during a commit, the change may or may not have been made.
        suggestion: "Try again in a few seconds; with an Idempotency-Key, the call runs only once.",
        headers: { "retry-after": "5" },
      },
    );
  }
  if (error instanceof StorageFull) {
    return new AppError("INSUFFICIENT_STORAGE", "The storage of this service is full.", {
      suggestion: "Free space or ask the operator to add some, then try again.",
    });
  }
  return fromFramework(error as FastifyError) ?? internalError();
}

function fromFramework(error: FastifyError): AppError | null {
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new AppError("VALIDATION_ERROR", "The body is too large.", {
        status: 413,
        suggestion: "Send file bytes to the presigned URL, not in the request body.",
      });
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new AppError("VALIDATION_ERROR", "The Content-Type must be application/json.", {
        suggestion: "Send the body as JSON with the header 'Content-Type: application/json'.",
      });
    case "FST_ERR_MAX_PARAM_LENGTH":
      return notFound("Resource");
    case "FST_ERR_BAD_URL":
      return new AppError("VALIDATION_ERROR", "The address is not a valid URL.", {
        suggestion: "Percent-encode the path.",
      });
    default:
      // Anything else the framework rejects (a truncated body, a wrong length) is for the caller to fix.
      return error.code?.startsWith("FST_ERR_CTP_") || (error.statusCode ?? 500) === 400
        ? new AppError("VALIDATION_ERROR", "The request could not be read.", {
            suggestion: "Check its headers and body.",
          })
        : null;
  }
}

function internalError(): AppError {
  return new AppError("INTERNAL_ERROR", "Something went wrong on our side.", {
    suggestion: "Try again; if it persists, report the X-Request-Id of this response.",
  });
}

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Rejects unknown paths, and known ones with a wrong method, before any of the body is read. Call it before routes are
 * added.
 */
export function answerUnknownPaths(app: FastifyInstance): void {
  const known = new Map<string, { path: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", (route) => {
    const entry = known.get(route.url) ?? { path: toRegExp(route.url), methods: new Set() };
    for (const method of [route.method].flat()) entry.methods.add(method);
    known.set(route.url, entry);
  });

  function refuse({ url, method }: FastifyRequest): never {
    const path = pathOf(url);
    const named = known.get(path);
    const matching =
      named === undefined ? [...known.values()].filter((entry) => entry.path.test(path)) : [named];
    const allowed = order.filter((name) => matching.some((entry) => entry.methods.has(name)));
    // A path that ends where a wildcard begins looks known but is not.
    if (allowed.length === 0 || allowed.includes(method)) throw unknownPath();
    throw wrongMethod(allowed);
  }

  /** A parameter matches any word, but a word that is a path itself is not an id: `/upload/multipart/init`. */
  function isOtherPath({ url, method, routeOptions }: FastifyRequest): boolean {
    if (routeOptions.url?.includes("/:") !== true) return false;
    return known.get(pathOf(url))?.methods.has(method) === false;
  }

  app.addHook("onRequest", (request, _reply, done) => {
    if (request.is404 || isOtherPath(request)) refuse(request);
    done();
  });
  app.setNotFoundHandler((request) => refuse(request));
}

const pathOf = (url: string) => (url.split("?", 1)[0] ?? "").replace(/\/$/, "");

export function unknownPath(): AppError {
  return new AppError("NOT_FOUND", "Not found.", {
    suggestion: "Check the path; the API is described at /api/v1/openapi.json.",
  });
}

function wrongMethod(allowed: string[]): AppError {
  const allow = allowed.join(", ");
  return new AppError("METHOD_NOT_ALLOWED", "Method not allowed.", {
    suggestion: `Use ${allow}.`,
    headers: { allow },
  });
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.replace(/\/$/, "").split("/");
  const source = parts.map((part) =>
    part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part),
  );
  return new RegExp(`^${source.join("/")}/?$`);
}
