import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { renderProvider, renderRouteHandler, renderSvelteEnv } from "@upstow/mcp/scaffolds";
import { folderOf } from "./run-example.ts";

it("the examples hold what `upstow init` and the tools for agents write", async () => {
  const route = { routeName: "image", maxFileSize: "4MB", allowedTypes: ["image/*"] };
  const written = [
    ["next", renderRouteHandler({ framework: "next", ...route })],
    ["next", renderProvider()],
    ["sveltekit", renderRouteHandler({ framework: "sveltekit", ...route })],
    ["sveltekit", renderSvelteEnv()],
  ] as const;
  for (const [name, { path, code }] of written) {
    assert.equal(await readFile(join(folderOf(name), path), "utf8"), code, `${name}/${path}`);
  }
});
