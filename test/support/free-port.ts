import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A port nobody listens on at this moment. Another process may take it first: callers try again. */
export function pickFreePort(): Promise<number> {
  return tryPort(0);
}

/** One that no outgoing connection takes while its server is restarted: systems give those higher ones. */
export async function pickLastingPort(): Promise<number> {
  for (;;) {
    try {
      return await tryPort(randomInt(12_000, 32_000));
    } catch (error) {
      if ((error as { code?: string }).code !== "EADDRINUSE") throw error;
    }
  }
}

async function tryPort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
