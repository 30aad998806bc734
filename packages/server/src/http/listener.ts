import type { IncomingMessage, RequestListener, Server } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { HEADERS_MAX_BYTES } from "@upstow/contract";
import type { FastifyBaseLogger } from "fastify";
import { readTlsFiles, type TlsConfig } from "../config/services.ts";
import { http } from "../kernel/net/node-http.ts";
import { handleInTurns, limitPipelining } from "./request-turns.ts";

/** PEM texts. */
export interface TlsFiles {
  cert: string;
  key: string;
}

const listenerOptions = {
  // Uploads may take hours, so requests have no time limit; body readers abort stalled ones.
  requestTimeout: 0,
  headersTimeout: 30_000,
  // How often that is checked.
  connectionsCheckingInterval: 10_000,
  keepAliveTimeout: 72_000,
  maxHeaderSize: HEADERS_MAX_BYTES,
  // Node would reject a request without Host in its own format; ours uses the error envelope.
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
  const handle = handleInTurns(handler);
  const serve = limitPipelining((request, response) => {
    if (request.url?.charCodeAt(0) !== slash) nameByPath(request);
    handle(request, response);
  });
  server.on("request", serve);
  // Unknown expectations are ignored, because Node's own rejection does not use the error envelope.
  server.on("checkExpectation", serve);
  dropOnClose(server, silent, tls === null ? "connection" : "secureConnection");
  admitFirst(server, admit);
  return server;
}

/** Nothing is set up for a connection that is rejected. */
function admitFirst(server: Server, admit: (socket: Socket) => boolean): void {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (admit(socket)) for (const listener of listeners) listener.call(server, socket);
    else socket.destroy();
  });
}

/**
 * A request may have an absolute URL, whose host then overrides Host. Signatures and idempotency depend on the path,
 * and must treat both forms as the same request.
 */
function nameByPath(request: IncomingMessage): void {
  const [origin, host] = /^https?:\/\/([^/?]*)/i.exec(request.url ?? "") ?? [];
  if (origin === undefined) return;
  const path = request.url?.slice(origin.length) ?? "";
  request.url = path.startsWith("/") ? path : `/${path}`;
  request.headers.host = host;
}

/** Node considers a connection without a first request busy, which would delay a shutdown for 30 seconds. */
function dropOnClose(server: Server, silent: Set<Socket>, opened: "connection" | "secureConnection"): void {
  server.on(opened, (socket: Socket) => {
    // A handshake in progress when the server closed.
    if (!server.listening) socket.destroy();
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.on("request", (request) => silent.delete(request.socket));
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdle();
    for (const socket of silent) socket.destroy();
    // A keep-alive connection from before the shutdown becomes idle only when its response has ended.
    const again = setInterval(closeIdle, idleCheckMs);
    server.once("close", () => clearInterval(again));
  };
}

/** Applies to new connections; open ones are unaffected. */
export function replaceCertificate(server: Server, { cert, key }: TlsFiles): void {
  (server as HttpsServer).setSecureContext({ minVersion: tlsOptions.minVersion, cert, key });
}

/** The same port still accepts plain HTTP, for health probes and to reject the rest with an explanation. */
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
      // From here on the server reads HTTP; `requireHttps` sees that this socket is not encrypted.
      else server.emit("secureConnection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  return server;
}

/**
 * Checks whether the files contain a new certificate, and serves it: certificates are renewed every few weeks,
 * without a restart. Throws if it cannot be used, such as a new certificate whose key is not there yet, and keeps the
 * previous one.
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
    log.info("the certificate was renewed; new connections use it");
  };
}
