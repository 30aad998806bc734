import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { build } from "esbuild";
import { toWebRequest } from "../../src/handler/node-request.ts";

export interface TestSite {
  url: string;
  endpoint: string;
  /** What came to the endpoint, in order. */
  actions: string[];
  stop(): Promise<void>;
}

export interface TestPage {
  html: string;
  /** Where its module `/page.js` is bundled from. */
  entry: string;
}

/** An application with one page and one upload endpoint. */
export async function startSite(
  handle: (request: Request) => Promise<Response>,
  { html, entry }: TestPage = sdkPage,
): Promise<TestSite> {
  const actions: string[] = [];
  const assets = new Map([
    ["/", { type: "text/html", text: html }],
    ["/page.js", { type: "text/javascript", text: await bundle(entry) }],
  ]);
  const server = createServer(async (node, response) => {
    const asset = assets.get(node.url ?? "");
    if (asset !== undefined) {
      response.setHeader("content-type", asset.type).end(asset.text);
      return;
    }
    const request = await toWebRequest(node, undefined, node);
    const body = await request.clone().text();
    actions.push(body === "" ? request.method : JSON.parse(body).action);
    const answer = await handle(request);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(await answer.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    endpoint: `${url}/api/upload`,
    actions,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const sdkPage: TestPage = {
  html: `<!doctype html><title>Upload</title><input type="file" id="file" multiple>
<script type="module">import * as sdk from "/page.js"; window.sdk = sdk; window.isReady = true;</script>`,
  entry: new URL("../../src/client/index.ts", import.meta.url).pathname,
};

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return outputFiles[0]?.text ?? "";
}
