import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";

const open = new Set<Socket>();

subscribe("undici:client:connected", (message) => {
  const { socket } = message as { socket: Socket };
  open.add(socket);
  socket.once("close", () => open.delete(socket));
});

/**
 * Closes the connections that `fetch` keeps for later. One that a server has closed may look alive to it, and a request
 * sent there is lost: what a client has to expect of every restart, and no fault of the server.
 */
export async function dropConnections(): Promise<void> {
  await Promise.all(
    [...open].map((socket) => {
      const closed = once(socket, "close");
      socket.destroy();
      return closed;
    }),
  );
}
