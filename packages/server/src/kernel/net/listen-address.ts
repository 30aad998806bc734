import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

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
