import type { IncomingHttpHeaders } from "node:http";
import { isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Config } from "../config.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import type { CidrList } from "../kernel/net/cidr-list.ts";
import { isLoopbackAddress, isLoopbackHost } from "../kernel/net/listen-address.ts";

const forwardingHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
];

const hsts = "max-age=31536000";

/**
 * Plain HTTP is accepted where browsers call it safe too (over loopback, to a loopback name), and from the networks
 * in UPSTOW_HTTP_FROM. A forwarding header from a peer that isn't a trusted proxy voids both, because someone else is
 * calling. A process with a certificate accepts none.
 */
export function requireHttps(
  app: FastifyInstance,
  config: Pick<Config, "trustedProxies" | "httpFrom" | "tls" | "hsts">,
): void {
  const { trustedProxies } = config;
  const hasCertificate = config.tls !== null;
  const findPeer = rememberPeers(config);
  app.addHook("onRequest", (request, reply, done) => {
    const peer = findPeer(request.socket);
    request.clientAddress = peer.isProxy
      ? findClientAddress(request, peer.address, trustedProxies)
      : peer.address;
    // Getting the headers from the framework costs more than reading one, so get them once.
    const { headers, rawHeaders } = request.raw;
    if (headers.host === undefined && request.raw.httpVersion === "1.1") {
      done(invalid("Host", "is required in every request"));
      return;
    }
    if (hasTwoHosts(rawHeaders)) {
      done(invalid("Host", "must be sent once"));
      return;
    }
    const isEncrypted = (request.socket as TLSSocket).encrypted === true;
    const forwarded = !isEncrypted && isForwarded(headers);
    const isHttps =
      isEncrypted ||
      (forwarded && peer.isProxy && !hasCertificate && isHttpsAllTheWay(headers["x-forwarded-proto"]));
    if (isHttps) {
      if (config.hsts) {
        request.hsts = hsts;
        reply.header("strict-transport-security", hsts);
      }
      done();
      return;
    }
    const isSafe = !forwarded && !hasCertificate && mayUsePlainHttp(peer, headers.host ?? "");
    const isAccepted = isSafe || request.routeOptions.config.plainHttp === true;
    done(isAccepted ? undefined : plainHttpRefused(hasCertificate));
  });
}

/** Node keeps the first of two, but a proxy in front may use the other. */
function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && (name === "Host" || name.toLowerCase() === "host")) count++;
  }
  return count > 1;
}

function plainHttpRefused(hasCertificate: boolean): AppError {
  return new AppError("FORBIDDEN", "Plain HTTP is not accepted.", {
    suggestion: hasCertificate
      ? "Use https."
      : "Use https, or http://localhost on the service's own machine. Operators: list a TLS proxy in UPSTOW_TRUSTED_PROXIES, and private networks that may use plain HTTP in UPSTOW_HTTP_FROM (Docker's are in 172.16.0.0/12).",
  });
}

interface Peer {
  address: string;
  isProxy: boolean;
  isLoopback: boolean;
  /** From one of the networks that may use plain HTTP. */
  isNeighbour: boolean;
  /** The last Host on this connection that is a name of this machine. */
  localHost: string | undefined;
}

/** Cached per connection, because the peer does not change and many requests share one. */
function rememberPeers({
  trustedProxies,
  httpFrom,
}: Pick<Config, "trustedProxies" | "httpFrom">): (socket: Socket) => Peer {
  const peers = new WeakMap<Socket, Peer>();
  return (socket) => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      const address = socket.remoteAddress ?? "";
      peer = {
        address,
        isProxy: trustedProxies.contains(address),
        isLoopback: isLoopbackAddress(address),
        isNeighbour: httpFrom?.contains(address) ?? false,
        localHost: undefined,
      };
      peers.set(socket, peer);
    }
    return peer;
  };
}

function mayUsePlainHttp(peer: Peer, host: string): boolean {
  return peer.isNeighbour || (peer.isLoopback && namesThisMachine(peer, host));
}

/** Each proxy in a chain may append its own scheme, like the addresses. */
function isHttpsAllTheWay(proto: string | string[] | undefined): boolean {
  if (proto === "https") return true;
  return String(proto)
    .split(",")
    .every((scheme) => scheme.trim() === "https");
}

function namesThisMachine(peer: Peer, host: string): boolean {
  if (peer.localHost !== host && isLoopbackHost(host.replace(/:\d+$/, ""))) peer.localHost = host;
  return peer.localHost === host;
}

/** Whether there was a proxy between the caller and us, according to the request. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return forwardingHeaders.some((name) => headers[name] !== undefined);
}

/** The rightmost address that is not one of our proxies: everything to its left could be forged. */
function findClientAddress(request: FastifyRequest, peer: string, trustedProxies: CidrList): string {
  const header = request.headers["x-forwarded-for"];
  const hops = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",").map(withoutPort);
  const client = hops.findLast((hop) => !trustedProxies.contains(hop)) ?? "";
  return isIP(client) === 0 ? peer : client;
}

/** Some proxies add the port, which changes with every connection. */
function withoutPort(hop: string): string {
  const [, bracketed, bare] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop.trim()) ?? [];
  return bracketed ?? bare ?? hop.trim();
}
