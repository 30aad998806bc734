import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { checkAddress } from "../../packages/server/src/kernel/net/listen-address.ts";

const host = "127.0.0.1";

/**
 * A port that stays free for whoever asked until this process ends, however long its server takes to start or to start
 * again: below those that systems give to connections and to servers without a wish, and marked as taken for the other
 * processes that pick one here by the UDP port of the same number, which no server of ours uses.
 */
export async function pickFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    try {
      await reserve(port);
      return await checkAddress({ host, port });
    } catch (error) {
      if ((error as { code?: string }).code !== "EADDRINUSE") throw error;
    }
  }
}

async function reserve(port: number): Promise<void> {
  const socket = createSocket("udp4").bind({ port, address: host, exclusive: true });
  await once(socket, "listening");
  socket.unref();
}
