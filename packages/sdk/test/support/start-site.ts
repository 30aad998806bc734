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

/** An application with one page and one upload endpoint. */
export async function startSite(handle: (request: Request) => Promise<Response>): Promise<TestSite> {
  const actions: string[] = [];
  const assets = new Map([
    ["/", { type: "text/html", text: page }],
    ["/uploader.js", { type: "text/javascript", text: await bundleUploader() }],
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

const page = `<!doctype html><title>Upload</title><input type="file" id="file" multiple>
<script type="module">import * as sdk from "/uploader.js"; window.sdk = sdk; window.isReady = true;</script>`;

async function bundleUploader(): Promise<string> {
  const entry = new URL("../../src/client/index.ts", import.meta.url).pathname;
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return outputFiles[0]?.text ?? "";
}
