import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { HEADERS_MAX_BYTES } from "@upstow/contract";
import type { FastifyBaseLogger } from "fastify";
import { readTlsFiles, type TlsConfig } from "../config/tls.ts";
import { http } from "../kernel/net/node-http.ts";

/** PEM texts. */
export interface TlsFiles {
  cert: string;
  key: string;
}

const listenerOptions = {
  // Uploads may take hours, so a request has no limit of its own: whoever reads a body cuts the stalled ones.
  requestTimeout: 0,
  headersTimeout: 30_000,
  // How late that is noticed.
  connectionsCheckingInterval: 10_000,
  keepAliveTimeout: 72_000,
  maxHeaderSize: HEADERS_MAX_BYTES,
  // Node would refuse a request without Host in its own words; ours is refused in the envelope.
  requireHostHeader: false,
};
const tlsOptions = { minVersion: "TLSv1.2", handshakeTimeout: 10_000 } as const;
const tlsHandshake = 0x16;
const idleCheckMs = 200;
const slash = "/".charCodeAt(0);

export function createListener(
  handler: RequestListener,
  tls: TlsFiles | null,
  admit: (socket: Socket) => boolean = () => true,
): Server {
  const silent = new Set<Socket>();
  const server = tls === null ? http.createServer(listenerOptions) : createSecureServer(tls, silent);
  const serve: RequestListener = (request, response) => {
    if (request.url?.charCodeAt(0) !== slash) nameByPath(request);
    handler(request, response);
  };
  server.on("request", serve);
  // An expectation we do not know is ignored; Node's own refusal would be no envelope.
  server.on("checkExpectation", serve);
  dropOnClose(server, silent, tls === null ? "connection" : "secureConnection");
  admitFirst(server, admit);
  return server;
}

/** Nothing is set up for a connection that may not stay. */
function admitFirst(server: Server, admit: (socket: Socket) => boolean): void {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (admit(socket)) for (const listener of listeners) listener.call(server, socket);
    else socket.destroy();
  });
}

/**
 * A request may name the server in front of the path, which then counts instead of Host. Signatures and idempotency are
 * of the path, and must not take the same request for another.
 */
function nameByPath(request: IncomingMessage): void {
  const [origin, host] = /^https?:\/\/([^/?]*)/i.exec(request.url ?? "") ?? [];
  if (origin === undefined) return;
  const path = request.url?.slice(origin.length) ?? "";
  request.url = path.startsWith("/") ? path : `/${path}`;
  request.headers.host = host;
}

/** To Node a connection on which no request has begun is busy; it would hold up a shutdown for half a minute. */
function dropOnClose(server: Server, silent: Set<Socket>, opened: "connection" | "secureConnection"): void {
  server.on(opened, (socket: Socket) => {
    // A handshake that was under way when the server closed.
    if (!server.listening) socket.destroy();
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", (request) => silent.delete(request.socket));
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdle();
    for (const socket of silent) socket.destroy();
    // What was promised to stay open before the shutdown began becomes idle only when its answer has ended.
    const again = setInterval(closeIdle, idleCheckMs);
    server.once("close", () => clearInterval(again));
  };
}

/** For connections from now on; those that are open go on as they began. */
export function replaceCertificate(server: Server, { cert, key }: TlsFiles): void {
  (server as HttpsServer).setSecureContext({ minVersion: tlsOptions.minVersion, cert, key });
}

/** The same port still reads plain HTTP, to answer health probes and to refuse the rest in words. */
function createSecureServer({ cert, key }: TlsFiles, silent: Set<Socket>): HttpsServer {
  const server = createHttpsServer({ ...listenerOptions, ...tlsOptions, cert, key });
  const startTls = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const giveUp = () => socket.destroy();
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    socket.setTimeout(listenerOptions.headersTimeout, giveUp).once("error", giveUp);
    socket.once("data", (first: Buffer) => {
      silent.delete(socket);
      socket.setTimeout(0).off("timeout", giveUp).off("error", giveUp);
      socket.pause();
      socket.unshift(first);
      if (first[0] === tlsHandshake) for (const listener of startTls) listener.call(server, socket);
      // From here on the server reads HTTP; that this socket is not encrypted is seen by `requireHttps`.
      else server.emit("secureConnection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  return server;
}

/**
 * Looks whether the files hold another certificate by now, and serves it: they are renewed every few weeks, and nobody
 * restarts the service for it. What cannot be served, such as a new certificate whose key is still on its way, throws
 * and leaves the former one in place.
 */
export function createCertificateRenewal(
  server: Server,
  first: TlsConfig,
  log: FastifyBaseLogger,
): () => Promise<void> {
  let served = first;
  return async () => {
    const found = readTlsFiles(first.certPath, first.keyPath);
    if (found.cert === served.cert && found.key === served.key) return;
    replaceCertificate(server, found);
    served = found;
    log.info("the certificate was renewed; new connections get the new one");
  };
}
