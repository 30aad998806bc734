import assert from "node:assert/strict";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const KB = 1024;

/** Everything an application ships for this one import, what is loaded on demand included. */
async function sizeOf(statement: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: statement, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    external: ["node:*"],
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
}

it("the browser's uploader stays under 10 KB", async (t) => {
  const size = await sizeOf(`export { createUploader } from "../src/client/index.ts"`);
  t.diagnostic(`${size} bytes gzip`);
  assert.ok(size < 10 * KB, `${size} bytes`);
});

it("the server's client, with links and grants, stays under 11 KB", async (t) => {
  const size = await sizeOf(`export { createUpstow } from "../src/index.ts"`);
  t.diagnostic(`${size} bytes gzip`);
  assert.ok(size < 11 * KB, `${size} bytes`);
});

it("what is not used is not shipped", async () => {
  const errorOnly = await sizeOf(`export { UpstowError } from "../src/index.ts"`);
  assert.ok(errorOnly < KB, `${errorOnly} bytes`);
});
