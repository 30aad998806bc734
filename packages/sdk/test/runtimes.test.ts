import assert from "node:assert/strict";
import { it } from "node:test";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { MB, startService } from "./support/start-service.ts";

/** What every runtime of today has: browsers, workers at the edge, Bun, Deno and Node. Nothing of Node's own. */
const webGlobals = [
  ...["AbortController", "AbortSignal", "Blob", "File", "Headers", "Request", "Response", "ReadableStream"],
  ...["TextDecoder", "TextEncoder", "URL", "URLSearchParams", "atob", "btoa", "clearTimeout", "console"],
  ...[
    "crypto",
    "fetch",
    "setInterval",
    "clearInterval",
    "performance",
    "setTimeout",
    "ArrayBuffer",
    "Uint8Array",
  ],
] as const;

async function bundle(code: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    globalName: "bundled",
    target: "es2022",
    // Asked for only where a path is given.
    external: ["node:*"],
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

it("client, uploader, handler and verifier run where there is nothing but the web's own interfaces", async () => {
  const service = await startService();
  try {
    const all = globalThis as unknown as Record<string, unknown>;
    const runtime = createContext(Object.fromEntries(webGlobals.map((name) => [name, all[name]])));
    const code = await bundle(`
      import { createUpstow } from "../src/index.ts";
      import { createUploader } from "../src/client/index.ts";
      import { createFileRouter, createRouteHandler } from "../src/server.ts";
      import * as webhooks from "../src/webhooks/index.ts";

      export async function drive(apiKey, baseUrl, sizeBytes) {
        const upstow = createUpstow({ apiKey, baseUrl });
        const stream = new Blob([new Uint8Array(sizeBytes)]).stream();
        const first = await upstow.upload(stream, { name: "stream.bin", size: sizeBytes });
        const f = createFileRouter();
        const handle = createRouteHandler({ apiKey, baseUrl, router: { any: f({ onUploadComplete: ({ file }) => file.size }) } });
        const site = "https://site.example/";
        const uploader = createUploader({
          endpoint: site,
          fetch: (url, init) => (String(url) === site ? handle(new Request(url, init)) : fetch(url, init)),
        });
        const files = [new File(["small"], "small.txt"), new File([new Uint8Array(sizeBytes)], "large.bin")];
        const stored = await uploader.upload("any", files);
        return JSON.stringify([first.size, ...stored.map(({ result }) => result), Object.keys(webhooks).length > 0]);
      }
    `);
    runInContext(code, runtime);
    assert.equal(
      runInContext("typeof process + typeof Buffer + typeof require", runtime),
      "undefined".repeat(3),
    );
    const drive: (...args: unknown[]) => Promise<string> = runInContext("bundled.drive", runtime);
    const answer = await drive(service.apiKey, service.app.url, 11 * MB);
    assert.deepEqual(JSON.parse(answer), [11 * MB, 5, 11 * MB, true]);
  } finally {
    await service.close();
  }
});
