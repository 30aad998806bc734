import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  createFileRouter,
  createReadHandler,
  createRouteHandler,
  type FileRouter,
  UpstowError,
} from "@upstow/sdk/server";
import { toWebRequest } from "../../../sdk/src/handler/node-request.ts";
import { startService, type TestService } from "../../../sdk/test/support/start-service.ts";
import type { StorageProxy } from "../../../sdk/test/support/storage-proxy.ts";
import { bundleHarness } from "../../harness/bundle.mjs";
import { picture } from "./files.ts";

export interface TestSite {
  url: string;
  service: TestService;
  reading: Reading;
  /** The line to the storage, which tests can hold up. */
  storage: StorageProxy;
  /** Stops the service's clock and calls until it answers 429 to further uploads. */
  useUpLimit(): Promise<void>;
  /** Lets uploads in again. */
  endWindow(): void;
  /** Names that are refused once. */
  refuseOnce: Set<string>;
  /** Names of what the backend has confirmed, in order. */
  completed: string[];
  stop(): Promise<void>;
}

/** How the application's read handler decides, and what it was asked. */
interface Reading {
  /** Storage keys of private files by the application's own ids. */
  files: Map<string, string>;
  /** Ids of files that nobody may read. */
  forbidden: Set<string>;
  /** The ids of all requests, each with who sent it. */
  asked: string[];
  send: "redirect" | "proxy";
  /** Runs before every answer; may answer itself. */
  before: () => Promise<number | null>;
}

/**
 * Only what a careful application allows: no code or sheet inline, blobs for previews, placeholders as data, and the
 * service's images.
 */
const writePolicy = (serviceUrl: string, storageUrl: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data: ${serviceUrl} ${storageUrl}; media-src blob:; connect-src *`;

/** The real service, an application in front of it, and pages of examples, rendered on the server. */
export async function startSite(options: Parameters<typeof startService>[0] = {}): Promise<TestSite> {
  const [service, bundle] = await Promise.all([startService(options), bundleHarness()]);
  const completed: string[] = [];
  const refuseOnce = new Set<string>();
  const handle = createRouteHandler({
    router: createRouter(refuseOnce, completed),
    baseUrl: service.app.url,
    apiKey: service.apiKey,
    onError: () => {},
  });
  const reading: Reading = {
    files: new Map(),
    forbidden: new Set(),
    asked: [],
    send: "redirect",
    before: async () => null,
  };
  const read = createReader(service, reading);
  const render = await loadRender(bundle.server);
  const policy = writePolicy(service.app.url, service.storage.url);
  function send(response: ServerResponse, type: string, body: string | Buffer, also = ""): void {
    const headers = {
      "content-type": `${type}; charset=utf-8`,
      "content-security-policy": policy + also,
    };
    response.writeHead(200, headers);
    response.end(body);
  }
  const assets = new Map<string, [string, string | Buffer]>([
    ["/client.js", ["text/javascript", bundle.script]],
    ["/styles.css", ["text/css", bundle.styles]],
    ["/page.css", ["text/css", pageStyles]],
    ["/files/beach.jpg", ["image/png", picture(0, 60, 45)]],
    ["/sample.png", ["image/png", picture(2_000)]],
    // Written by hand: its address is not how a browser would write it.
    ["/100%.png", ["image/png", picture(2_000)]],
  ]);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://site");
    const asset = assets.get(url.pathname);
    if (asset !== undefined) return send(response, ...asset);
    if (url.pathname === "/") {
      const slugs = url.searchParams.getAll("c");
      const body = page(render(slugs), url.searchParams.get("dir") ?? "ltr");
      // A placeholder is painted before any script runs.
      const also = slugs.includes("upstow-image") ? "; style-src-attr 'unsafe-inline'" : "";
      return send(response, "text/html", body, also);
    }
    const isRead = url.pathname.startsWith("/api/files/");
    if (!isRead && url.pathname !== "/api/upload") return send(response, "text/plain", "");
    const answer = await (isRead ? read : handle)(await toWebRequest(request, undefined, request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    service,
    reading,
    storage: service.storage,
    async useUpLimit() {
      service.app.clock.setTime(service.app.clock.now());
      const call = { key: service.apiKey, body: { fileId: "none" } };
      while ((await service.app.call("POST", "upload/complete", call)).status !== 429);
    },
    endWindow: () => service.app.clock.advance(60_000),
    refuseOnce,
    completed,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await service.close();
    },
  };
}

function createRouter(refuseOnce: Set<string>, completed: string[]) {
  const route = createFileRouter();
  const shared = {
    middleware({ files }: { files: { name: string }[] }) {
      const refused = files.find(({ name }) => refuseOnce.delete(name));
      if (refused !== undefined) throw new UpstowError("Not today.", { code: "REFUSED", status: 403 });
      return {};
    },
    onUploadComplete({ file }: { file: { name: string } }) {
      completed.push(file.name);
    },
  };
  return {
    files: route({ maxFileSize: "64MB", fromUrl: true, ...shared }),
    images: route({ allowedTypes: ["image/*"], maxFileSize: "8MB", maxFileCount: 1, ...shared }),
  } satisfies FileRouter;
}

/** Lets everybody read what is not forbidden. Its addresses have the application's ids instead of storage keys. */
function createReader({ app, apiKey }: TestService, reading: Reading) {
  const createHandler = (send: "redirect" | "proxy") =>
    createReadHandler({
      baseUrl: app.url,
      apiKey,
      send,
      authorize: ({ fileId }) => !reading.forbidden.has(fileId),
    });
  const handlers = { redirect: createHandler("redirect"), proxy: createHandler("proxy") };
  return async (request: Request): Promise<Response> => {
    const id = new URL(request.url).pathname.slice("/api/files/".length);
    reading.asked.push(`${id} ${request.headers.get("authorization") ?? "anonymous"}`);
    const status = await reading.before();
    if (status !== null) return Response.json({}, { status });
    const key = (reading.files.get(id) ?? id).split("/").map(encodeURIComponent).join("/");
    const handle = handlers[reading.send];
    return handle(new Request(new URL(`/api/files/${key}`, request.url), request), undefined);
  };
}

/** The bundle imports React by name, so it must lie where that can be found. */
async function loadRender(code: string): Promise<(slugs: string[]) => string> {
  const folder = await mkdtemp(fileURLToPath(new URL("../../../../node_modules/.harness-", import.meta.url)));
  const file = join(folder, "server.mjs");
  await writeFile(file, code);
  try {
    return (await import(pathToFileURL(file).href)).render;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const page = (body: string, direction: string) => `<!doctype html>
<html lang="en" dir="${direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Example</title>
<link rel="stylesheet" href="/page.css"><link rel="stylesheet" href="/styles.css">
<script type="module" src="/client.js"></script></head>
<body><main><h1>Example</h1><h2>Component</h2><div id="root">${body}</div></main></body></html>`;

const pageStyles = `:root { color-scheme: light dark; }
body { margin: 0; padding: 16px; font: 16px/1.5 system-ui, sans-serif; background: light-dark(#fff, #0f1218); color: light-dark(#1b2130, #e7eaf1); }
h1, h2 { position: absolute; clip-path: inset(50%); }
#root { max-width: 720px; }
.tall { block-size: 4000px; }`;
