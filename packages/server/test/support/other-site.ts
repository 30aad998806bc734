import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Another site: it hands out pages and notes what scripts report to it. */
export async function startOtherSite() {
  const reports: string[] = [];
  const pages = new Map<string, { type: string; body: string }>();
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    if (path.startsWith("/ran/")) reports.push(path.slice("/ran/".length));
    const page = pages.get(path) ?? { type: "text/html", body: "<!doctype html><title>site</title>" };
    response.writeHead(200, { "content-type": page.type, "access-control-allow-origin": "*" });
    response.end(page.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reports,
    pages,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export type OtherSite = Awaited<ReturnType<typeof startOtherSite>>;
