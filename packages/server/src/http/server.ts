import type { RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { BODY_MAX_BYTES } from "@upstow/contract";
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import { AppError, bodyCutOff } from "../kernel/errors.ts";
import { createId } from "../kernel/ids.ts";
import type { CidrList } from "../kernel/net/cidr-list.ts";
import { lingerAfterEarlyAnswers } from "./body-deadline.ts";
import type { Connections } from "./connections.ts";
import { rawErrorResponse, sendError } from "./error-handler.ts";
import { createListener, type TlsFiles } from "./listener.ts";
import { noCompilers } from "./validation.ts";

export interface ServerOptions {
  tls: TlsFiles | null;
  trustedProxies: CidrList;
  logger: FastifyBaseLogger;
  connections?: Connections;
  onSlowHeaders?: () => void;
}

export function createHttpFrame(options: ServerOptions): FastifyInstance {
  const app = Fastify({
    // A logger per request would cost more than the line it writes, so code that logs has the shared logger.
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    trustProxy: (address) => options.trustedProxies.contains(address),
    schemaController: { compilersFactory: noCompilers },
    return503OnClosing: false,
    forceCloseConnections: "idle",
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    // A storage key has up to 900 bytes, or three times that when percent-encoded.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      reply.header("x-request-id", request.id);
      sendError(http.editedSignedUrl(request.url) ?? error, request, reply, options.logger);
    },
    clientErrorHandler: (error, socket) => {
      if (isTimeout(error)) options.onSlowHeaders?.();
      refuseUnreadable(error, socket as Socket);
    },
    serverFactory: (handler) =>
      createListener(handler as RequestListener, options.tls, options.connections?.admit),
  });
  const http = app as unknown as FastifyInstance;
  watchSignedUrls(http);
  http.addHook("onClose", (_app, done) => {
    options.connections?.close();
    done();
  });
  endConnectionsOnClose(http);
  lingerAfterEarlyAnswers(http);
  return http;
}

/** Responses during a shutdown close their connection, or it would wait for the next request. */
function endConnectionsOnClose(http: FastifyInstance): void {
  let isClosing = false;
  http.addHook("preClose", (done) => {
    isClosing = true;
    done();
  });
  http.addHook("onSend", (_request, reply, payload, done) => {
    if (isClosing) reply.header("connection", "close");
    done(null, payload);
  });
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : createId(Date.now());
}

/** The connection's current response. Node has no public API for it, but always stores it there. */
function findCurrentAnswer(socket: Socket): ServerResponse | null {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
}

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const current = findCurrentAnswer(socket);
  if (error.code === "ECONNRESET" || !socket.writable || (current?.headersSent && !current.req.complete)) {
    socket.destroy();
    return;
  }
  // The request before it is complete and being handled; its caller gets that response, not this error.
  if (current?.req.complete) {
    if (current.shouldKeepAlive) current.once("close", () => socket.destroySoon());
    current.shouldKeepAlive = false;
    return;
  }
  socket.end(rawErrorResponse(explainUnreadable(error, current !== null), createId(Date.now())));
  // Don't let a half-closed peer pin the socket.
  setTimeout(() => socket.destroy(), 5000).unref();
}

function isTimeout({ code }: NodeJS.ErrnoException): boolean {
  return code === "ERR_HTTP_REQUEST_TIMEOUT";
}

function explainUnreadable(error: NodeJS.ErrnoException, isInBody: boolean): AppError {
  const { code } = error;
  if (code === "HPE_INVALID_EOF_STATE" && isInBody) return bodyCutOff();
  const tooLarge = code === "HPE_HEADER_OVERFLOW";
  return new AppError(
    "VALIDATION_ERROR",
    tooLarge ? "The headers are too large." : "This is not valid HTTP.",
    { status: tooLarge ? 431 : isTimeout(error) ? 408 : 400 },
  );
}

declare module "fastify" {
  interface FastifyInstance {
    /** The error for a signed URL that cannot be parsed, because it was edited. Null for any other URL. */
    editedSignedUrl(url: string): AppError | null;
  }
}

/** Recognises signed URLs by the routes that declare them, because a URL that cannot be decoded has no route. */
function watchSignedUrls(app: FastifyInstance): void {
  const prefixes = new Set<string>();
  app.addHook("onRoute", ({ url, config }) => {
    if (config?.signedUrl === true) prefixes.add(url.replace(/[:*].*/, ""));
  });
  app.decorate("editedSignedUrl", (url) =>
    [...prefixes].some((prefix) => url.startsWith(prefix))
      ? new AppError("FORBIDDEN", "This URL was changed after it was signed.")
      : null,
  );
}
