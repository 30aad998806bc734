import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createFileRouter, createRouteHandler } from "@upstow/sdk/express";
import { build } from "esbuild";
import express from "express";
import { demo, ownClass } from "./app-row.ts";
import type { RunningSite, Workshop } from "./make-app.ts";

const script = `import "@upstow/react/styles.css";
import { UpstowProvider } from "@upstow/react";
import { createRoot } from "react-dom/client";
${demo().replace("export default ", "")}
createRoot(document.querySelector("#root")).render(<UpstowProvider endpoint="/api/upload"><Demo /></UpstowProvider>);
`;

/** The same components on a page with no other style, from the sources: what the applications are compared with. */
export async function serveReference({ service }: Workshop): Promise<RunningSite> {
  const { outputFiles } = await build({
    stdin: { contents: script, loader: "tsx", resolveDir: import.meta.dirname },
    ...{ bundle: true, write: false, outdir: "out", format: "esm", jsx: "automatic" },
  });
  const find = (extension: string) => outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? "";
  const page = `<!doctype html><html lang="en"><meta charset="utf-8">
<style>${find(".css")}${ownClass}</style><div id="root"></div><script type="module" src="/page.js"></script>`;
  const route = createFileRouter();
  const router = { image: route({ allowedTypes: ["*/*"], maxFileSize: "100MB" }) };
  const app = express();
  app.all("/api/upload", createRouteHandler({ router, baseUrl: service.url, apiKey: service.apiKey }));
  app.get("/page.js", (_request, response) => void response.type("js").send(find(".js")));
  app.get("/", (_request, response) => void response.send(page));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
