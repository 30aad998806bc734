import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export interface LoadBalancer {
  port: number;
  /** Leaves an instance out, as a health check would, or takes it back. */
  setAway(port: number, isAway: boolean): void;
  close(): Promise<void>;
}

/**
 * Hands each request to the next instance, as the simplest load balancers do. One that refuses the connection is
 * passed over; a request that an instance had begun to read when it died is answered with 502.
 */
export async function startLoadBalancer(ports: number[]): Promise<LoadBalancer> {
  let turn = 0;
  const away = new Set<number>();
  const agent = new Agent({ keepAlive: false });

  function forward(request: IncomingMessage, response: ServerResponse, left: number): void {
    const present = ports.filter((port) => !away.has(port));
    const port = present[turn++ % present.length];
    const { method, url: path, headers } = request;
    const outgoing = httpRequest({ agent, host: "127.0.0.1", port, method, path, headers });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      const wasTaken = error.code !== "ECONNREFUSED";
      if (!wasTaken && left > 1) return forward(request, response, left - 1);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`the instance went away (${error.code ?? error.message})`);
    });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("error", () => response.destroy()).pipe(response);
    });
    // Bodies wait until somebody has taken the connection, so that nothing of them is lost with a refusal.
    outgoing.once("socket", (socket) => socket.once("connect", () => request.pipe(outgoing)));
    response.on("close", () => outgoing.destroy());
  }

  const server = createServer((request, response) => forward(request, response, ports.length));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    setAway: (port, isAway) => void (isAway ? away.add(port) : away.delete(port)),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}
