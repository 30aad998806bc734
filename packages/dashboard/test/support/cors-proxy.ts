import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

export interface CorsProxy {
  url: string;
  /** The requests that pages sent, as "PUT /bucket/key". */
  fromPages: string[];
  close(): Promise<void>;
}

/** Stands in front of an S3 server as one whose buckets let pages of any origin upload, which Swift's do not. */
export async function startCorsProxy(target: string): Promise<CorsProxy> {
  const { hostname, port } = new URL(target);
  const fromPages: string[] = [];
  const server = createServer((request, response) => {
    const { method = "", url: path = "", headers } = request;
    response.setHeader("access-control-allow-origin", "*");
    response.setHeader("access-control-expose-headers", "ETag");
    if (method === "OPTIONS") {
      response.setHeader("access-control-allow-methods", "PUT");
      response.setHeader("access-control-allow-headers", "*");
      response.writeHead(204).end();
      return;
    }
    if (headers.origin !== undefined) fromPages.push(`${method} ${path.split("?")[0]}`);
    // Headers go on as they came, Host too: it is part of signatures. Swift answers pages by rules of its own.
    const { origin, ...kept } = headers;
    const outgoing = httpRequest({ hostname, port, method, path, headers: kept, agent: false });
    const fail = () => response.destroy();
    outgoing.on("error", fail);
    outgoing.on("response", (answer) => {
      // From here on what is wrong shows in the answer: Swift sends a stray byte or two after it.
      outgoing.off("error", fail).on("error", () => {});
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fromPages,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
