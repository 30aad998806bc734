import { once } from "node:events";
import { createServer } from "node:net";

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

/** Throws what listening there would throw. */
export async function checkAddress(address: ListenAddress): Promise<void> {
  // Whoever calls already is not answered here, and must not hold this up either.
  const server = createServer((socket) => socket.destroy()).listen(address);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
