import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { catalogue } from "../src/catalogue/index.ts";

const folder = fileURLToPath(new URL("../", import.meta.url));

describe("the package as it is published", () => {
  let dist: string;
  before(async () => {
    await mkdir(join(folder, "dist"), { recursive: true });
    dist = await mkdtemp(join(folder, "dist/package-"));
    const { status, stdout } = spawnSync(process.execPath, [join(folder, "build.mjs"), dist], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  });
  after(() => rm(dist, { recursive: true, force: true }));

  it("marks what runs in browsers, file by file", async () => {
    for (const { slug } of catalogue) {
      const code = await readFile(join(dist, `components/${slug}.js`), "utf8");
      // The only one without state, which a server component may render.
      assert.equal(code.startsWith('"use client";'), slug !== "upstow-image", slug);
    }
    assert.match(await readFile(join(dist, "core/use-upload.js"), "utf8"), /^"use client";/);
  });

  it("exports files that exist, and refers to no source", async () => {
    const {
      exports,
      dependencies = {},
      peerDependencies,
    } = JSON.parse(await readFile(join(dist, "package.json"), "utf8"));
    for (const entry of Object.values(exports) as (string | { types: string; default: string })[]) {
      for (const path of typeof entry === "string" ? [entry] : [entry.types, entry.default]) {
        assert.ok(existsSync(join(dist, path.replace("*", "upload-dropzone"))), path);
      }
    }
    assert.deepEqual(dependencies, {});
    assert.deepEqual(Object.keys(peerDependencies), ["@upstow/sdk", "react"]);
    assert.doesNotMatch(await readFile(join(dist, "components/upload-dropzone.d.ts"), "utf8"), /\.tsx?"/);
  });

  it("can be imported where there is no browser", async () => {
    const names = Object.keys(await import(pathToFileURL(join(dist, "catalogue/index.js")).href));
    assert.deepEqual(names.sort(), ["CATEGORIES", "catalogue"]);
  });
});
