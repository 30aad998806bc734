import { randomInt } from "node:crypto";
import { checkAddress } from "../../packages/server/src/net/listen-address.ts";

const host = "127.0.0.1";

/** A port nobody listens on at this moment. Another process may take it first: callers try again. */
export function pickFreePort(): Promise<number> {
  return checkAddress({ host, port: 0 });
}

/** One that no outgoing connection takes while its server is restarted: systems give those higher ones. */
export async function pickLastingPort(): Promise<number> {
  for (;;) {
    try {
      return await checkAddress({ host, port: randomInt(12_000, 32_000) });
    } catch (error) {
      if ((error as { code?: string }).code !== "EADDRINUSE") throw error;
    }
  }
}
