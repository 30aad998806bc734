import type { IncomingHttpHeaders } from "node:http";
import { isIP, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError, invalid } from "../errors.ts";
import type { CidrList } from "../net/cidr-list.ts";
import { isLoopbackAddress, isLoopbackHost } from "../net/loopback.ts";

const forwardingHeaders = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-real-ip",
];

/**
 * Plain HTTP is taken only where browsers too call it safe: over loopback, to a loopback name, with nothing in
 * between. A forwarding header from a peer that is not a trusted proxy means something is in between.
 */
export function requireHttps(app: FastifyInstance, trustedProxies: CidrList): void {
  const findPeer = rememberPeers(trustedProxies);
  app.decorateRequest("clientAddress", "");
  app.addHook("onRequest", (request, _reply, done) => {
    const peer = findPeer(request.socket);
    request.clientAddress = peer.isProxy
      ? findClientAddress(request, peer.address, trustedProxies)
      : peer.address;
    // Asking the framework for headers costs more than reading one, so they are asked for once.
    const { headers } = request.raw;
    if (headers.host === undefined && request.raw.httpVersion === "1.1") {
      done(invalid("Host", "is a header that every request needs"));
      return;
    }
    const isTaken = isSecure(request.socket, headers, peer) || request.routeOptions.config.plainHttp === true;
    done(isTaken ? undefined : plainHttpRefused());
  });
}

function plainHttpRefused(): AppError {
  return new AppError("FORBIDDEN", "Plain HTTP is not accepted.", {
    suggestion: "Use https, or call a server on your own machine as http://localhost.",
  });
}

interface Peer {
  address: string;
  isProxy: boolean;
  isLoopback: boolean;
  /** The last Host that came over the connection and is a name of this machine. */
  localHost: string | undefined;
}

/** Who is at the other end does not change while a connection lives, and many requests share one. */
function rememberPeers(trustedProxies: CidrList): (socket: Socket) => Peer {
  const peers = new WeakMap<Socket, Peer>();
  return (socket) => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      const address = socket.remoteAddress ?? "";
      peer = {
        address,
        isProxy: trustedProxies.contains(address),
        isLoopback: isLoopbackAddress(address),
        localHost: undefined,
      };
      peers.set(socket, peer);
    }
    return peer;
  };
}

function isSecure(socket: Socket, headers: IncomingHttpHeaders, peer: Peer): boolean {
  if ((socket as TLSSocket).encrypted === true) return true;
  const forwarded = isForwarded(headers);
  if (peer.isProxy && forwarded) return isHttpsAllTheWay(headers["x-forwarded-proto"]);
  return !forwarded && peer.isLoopback && namesThisMachine(peer, headers.host ?? "");
}

/** Of proxies in a row each may add its own scheme, as the addresses are added. */
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

/** Whether something stood between the caller and us, as far as the request says. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return forwardingHeaders.some((name) => headers[name] !== undefined);
}

/** The rightmost address that is not one of our proxies: everything left of it could have been made up. */
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
