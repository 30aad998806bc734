import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { type Config, ConfigError } from "../config.ts";
import { isPrivateAddress } from "../kernel/net/cidr-list.ts";
import type { ListenAddress } from "../kernel/net/listen-address.ts";
import { http } from "../kernel/net/node-http.ts";
import { hasToken } from "./metrics.ts";
import { isForwarded } from "./require-https.ts";

export interface MetricsListener {
  close(): Promise<void>;
}

/**
 * Prometheus text over plain HTTP, for scrapers in a private network. It shares only the process with the service's
 * own listener, so neither that one's limits nor the database can hide what is going on.
 */
export async function openMetricsListener(
  registry: Registry,
  address: ListenAddress,
  { metricsToken }: Pick<Config, "metricsToken">,
): Promise<MetricsListener> {
  const server: Server = http.createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = judge(request);
    response.statusCode = status;
    if (status !== 200) return void response.end(`${http.STATUS_CODES[status]}\n`);
    const text = await registry.metrics();
    response.setHeader("content-type", registry.contentType);
    response.end(text);
  }

  function judge({ socket, headers, method, url = "" }: IncomingMessage): number {
    // A proxy in the same network would forward requests from anyone.
    if (!isPrivateAddress(socket.remoteAddress ?? "") || isForwarded(headers)) return 403;
    if (metricsToken !== null && !hasToken(headers, metricsToken)) return 401;
    if (url.split("?", 1)[0] !== "/metrics") return 404;
    return method === "GET" || method === "HEAD" ? 200 : 405;
  }

  try {
    await once(server.listen(address), "listening");
  } catch (error) {
    throw new ConfigError(`UPSTOW_METRICS_ADDRESS cannot be used: ${(error as Error).message}`);
  }
  return {
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
