import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SilentNetwork {
  /** The target's URL through this network. */
  url: string;
  /**
   * While it is silent, connections stay open and nothing arrives, as if the other machine were gone. What was sent
   * arrives afterwards, as TCP would send it again.
   */
  setSilent(isSilent: boolean): void;
}

/** Stands between the service and its database. */
export async function startSilentNetwork(
  t: { after(close: () => void): void },
  target: string,
): Promise<SilentNetwork> {
  const address = new URL(target);
  const { port, hostname } = address;
  const sockets = new Set<Socket>();
  let isSilent = false;
  const network = createServer((socket) => {
    const server = connect(Number(port), hostname);
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from
        .on("error", () => {})
        .on("data", (bytes) => to.write(bytes))
        .on("close", () => {
          sockets.delete(from);
          to.destroy();
        });
      if (isSilent) from.pause();
    };
    pass(socket, server);
    pass(server, socket);
  });
  await once(network.listen(0, "127.0.0.1"), "listening");
  t.after(() => {
    network.close();
    for (const socket of sockets) socket.destroy();
  });
  address.hostname = "127.0.0.1";
  address.port = String((network.address() as AddressInfo).port);
  return {
    url: address.href,
    setSilent(silent) {
      isSilent = silent;
      for (const socket of sockets) silent ? socket.pause() : socket.resume();
    },
  };
}
