import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { buildTarget, isStale } from "./build-targets.mjs";
import { SetUpError } from "./run-captured.mjs";

let root;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "upstow-build-"));
  await mkdir(join(root, "page", "src"), { recursive: true });
  await writeFile(join(root, "package-lock.json"), "{}");
  await writeFile(join(root, "page", "src", "index.txt"), "one");
});
afterEach(() => rm(root, { recursive: true }));

const silent = () => {};
const page = {
  name: "page",
  inputs: ["page"],
  output: "page/dist",
  command: ["sh", "-c", "mkdir -p page/dist && cp page/src/* page/dist"],
};

test("a target is built once, and again only when an input changes", async () => {
  assert.equal(isStale(root, page), true);
  await buildTarget(root, page, silent);
  assert.equal(await readFile(join(root, "page/dist/index.txt"), "utf8"), "one");
  assert.equal(isStale(root, page), false);

  await writeFile(join(root, "page/src/index.txt"), "two");
  assert.equal(isStale(root, page), true);
  await buildTarget(root, page, silent);
  assert.equal(await readFile(join(root, "page/dist/index.txt"), "utf8"), "two");
  assert.equal(isStale(root, page), false);
});

for (const [change, make] of [
  ["a new file", () => writeFile(join(root, "page/src/more.txt"), "")],
  ["other packages", () => writeFile(join(root, "package-lock.json"), "{ }")],
  ["a lost output", () => rm(join(root, "page/dist"), { recursive: true })],
]) {
  test(`${change} makes a target stale`, async () => {
    await buildTarget(root, page, silent);
    await make();
    assert.equal(isStale(root, page), true);
  });
}

test("another command makes a target stale", async () => {
  await buildTarget(root, page, silent);
  assert.equal(isStale(root, { ...page, command: [...page.command, "-v"] }), true);
});

test("a failed build shows its last lines and stays stale", async () => {
  const broken = { ...page, command: ["sh", "-c", "mkdir -p page/dist; echo no such module >&2; exit 3"] };
  await assert.rejects(
    buildTarget(root, broken, silent),
    (error) => error instanceof SetUpError && /Building page failed[\s\S]*no such module/.test(error.message),
  );
  assert.equal(isStale(root, broken), true);
});
