import { once } from "node:events";
import { type AddressInfo, createServer, isIPv4 } from "node:net";
import { isLocalhostName } from "./outbound-url.ts";

export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * "localhost" is two addresses, and a server takes one: that of IPv4, which whoever tries the name comes to as well.
 */
export function addressOf({ host, port }: ListenAddress): ListenAddress {
  return { host: host === "localhost" ? "127.0.0.1" : host, port };
}

/** The port that listening there would get: for 0 a free one. Throws what listening would throw. */
export async function checkAddress(address: ListenAddress): Promise<number> {
  // Whoever calls already is not answered here, and must not hold this up either.
  const server = createServer((socket) => socket.destroy()).listen(address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const mappedPrefix = "::ffff:";

/** 127.0.0.0/8 and ::1. Looked at for every connection and Host, so no list is searched for it. */
export function isLoopbackAddress(address: string): boolean {
  if (address === "::1") return true;
  const ipv4 = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
  return ipv4.startsWith("127.") && isIPv4(ipv4);
}

/** A host name as it stands in a URL or a Host header, without its port. Browsers call these names safe too. */
export function isLoopbackHost(host: string): boolean {
  return isLocalhostName(host) || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
