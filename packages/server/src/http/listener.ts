import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";

/** PEM texts. */
export interface TlsFiles {
  cert: string;
  key: string;
}

const listenerOptions = {
  // Uploads may take hours, so a request has no limit of its own: whoever reads a body cuts the stalled ones.
  requestTimeout: 0,
  headersTimeout: 30_000,
  keepAliveTimeout: 72_000,
  // Node would refuse a request without Host in its own words; ours is refused in the envelope.
  requireHostHeader: false,
};
const tlsHandshake = 0x16;
const tlsHandshakeMs = 10_000;

export function createListener(handler: RequestListener, tls: TlsFiles | null): Server {
  const plain = createHttpServer(listenerOptions, handler);
  // An expectation we do not know is ignored; Node's own refusal would be no envelope.
  plain.on("checkExpectation", handler);
  if (tls === null) {
    dropSilentConnections(plain, "connection");
    return plain;
  }
  const tlsOptions = { ...tls, minVersion: "TLSv1.2" as const, handshakeTimeout: tlsHandshakeMs };
  const secure = createHttpsServer({ ...listenerOptions, ...tlsOptions }, handler);
  secure.on("checkExpectation", handler);
  dropSilentConnections(secure, "secureConnection");
  alsoReadPlainHttp(secure, plain);
  return secure;
}

/** To Node a connection on which no request has begun is busy; it would hold up a shutdown for half a minute. */
function dropSilentConnections(server: Server, opened: "connection" | "secureConnection"): void {
  const silent = new Set<Socket>();
  server.on(opened, (socket: Socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  server.prependListener("request", (request) => silent.delete(request.socket));
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdle();
    for (const socket of silent) socket.destroy();
  };
}

/** With TLS the same port still reads plain HTTP, to answer health probes and to refuse the rest in words. */
function alsoReadPlainHttp(secure: HttpsServer, plain: Server): void {
  const startTls = secure.listeners("connection");
  const undecided = new Set<Socket>();
  secure.removeAllListeners("connection");
  secure.on("connection", (socket: Socket) => {
    const giveUp = () => socket.destroy();
    undecided.add(socket);
    socket.once("close", () => undecided.delete(socket));
    socket.setTimeout(listenerOptions.headersTimeout, giveUp).once("error", giveUp);
    socket.once("data", (first: Buffer) => {
      undecided.delete(socket);
      socket.setTimeout(0).off("timeout", giveUp).off("error", giveUp);
      socket.pause();
      socket.unshift(first);
      if (first[0] === tlsHandshake) for (const listener of startTls) listener.call(secure, socket);
      else plain.emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  });
  plain.on("clientError", (error, socket) => secure.emit("clientError", error, socket));
  const closeIdle = secure.closeIdleConnections.bind(secure);
  secure.closeIdleConnections = () => {
    closeIdle();
    plain.closeIdleConnections();
    for (const socket of undecided) socket.destroy();
  };
  secure.on("close", () => plain.closeAllConnections());
}
