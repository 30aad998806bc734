import { once } from "node:events";
import { type AddressInfo, createServer, isIPv4 } from "node:net";
import { isLocalhostName } from "./outbound-url.ts";

export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * "localhost" has two addresses and a server listens on one: the IPv4 address, which clients that use the name also
 * try.
 */
export function addressOf({ host, port }: ListenAddress): ListenAddress {
  return { host: host === "localhost" ? "127.0.0.1" : host, port };
}

/** The port that listening there would use; a free one for 0. Throws what listening would throw. */
export async function checkAddress(address: ListenAddress): Promise<number> {
  // Early clients get no response here, and must not delay this either.
  const server = createServer((socket) => socket.destroy()).listen(address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const mappedPrefix = "::ffff:";

/** 127.0.0.0/8 and ::1. Checked for every connection and Host, so it does not search a list. */
export function isLoopbackAddress(address: string): boolean {
  if (address === "::1") return true;
  const ipv4 = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
  return ipv4.startsWith("127.") && isIPv4(ipv4);
}

/** A host name from a URL or Host header, without the port. Browsers treat these names as secure too. */
export function isLoopbackHost(host: string): boolean {
  return isLocalhostName(host) || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
