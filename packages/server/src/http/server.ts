import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { BODY_MAX_BYTES } from "@upstow/contract";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { AppError } from "../errors.ts";
import { createId } from "../ids.ts";
import { rawErrorResponse, sendError } from "./error-handler.ts";

export interface ServerOptions {
  tls: { cert: string; key: string } | null;
  logger: FastifyBaseLogger;
}

/** Uploads may take hours, so a request has no limit of its own: the upload handler cuts the stalled ones. */
const timeouts = { requestTimeout: 0, headersTimeout: 30_000, keepAliveTimeout: 72_000 };
const tlsHandshake = 0x16;

export function createHttpFrame(options: ServerOptions): FastifyInstance {
  const app = Fastify({
    loggerInstance: options.logger,
    bodyLimit: BODY_MAX_BYTES,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for every request would cost more than the line it writes.
    childLoggerFactory: (logger) => logger,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    // A storage key has up to 900 bytes, three times that when percent-encoded.
    routerOptions: { maxParamLength: 4096, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      sendError(error, request, reply.header("x-request-id", request.id));
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket as Socket),
    serverFactory: (handler) => createListener(handler as RequestListener, options.tls) as Server,
  });
  return app as unknown as FastifyInstance;
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : createId(Date.now());
}

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const refusal = new AppError(
    "VALIDATION_ERROR",
    tooLarge ? "The headers are too large." : "This is not valid HTTP.",
    {
      status: tooLarge ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400,
    },
  );
  socket.end(rawErrorResponse(refusal));
}

function createListener(handler: RequestListener, tls: ServerOptions["tls"]): Server {
  const plain = createHttpServer(timeouts, handler);
  if (tls === null) return plain;
  const secure = createHttpsServer({ ...timeouts, ...tls, minVersion: "TLSv1.2" }, handler);
  alsoReadPlainHttp(secure, plain);
  return secure;
}

/** With TLS the same port still reads plain HTTP, to answer health probes and to refuse the rest in words. */
function alsoReadPlainHttp(secure: HttpsServer, plain: Server): void {
  const startTls = secure.listeners("connection");
  secure.removeAllListeners("connection");
  secure.on("connection", (socket: Socket) => {
    const giveUp = () => socket.destroy();
    socket.setTimeout(timeouts.headersTimeout, giveUp).once("error", giveUp);
    socket.once("data", (first: Buffer) => {
      socket.setTimeout(0).off("timeout", giveUp).off("error", giveUp);
      socket.pause();
      socket.unshift(first);
      if (first[0] === tlsHandshake) for (const listener of startTls) listener.call(secure, socket);
      else plain.emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  plain.on("clientError", (error, socket) => secure.emit("clientError", error, socket));
  secure.on("close", () => plain.closeAllConnections());
}
