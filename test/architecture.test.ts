import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, it } from "node:test";
import { layers } from "../scripts/draw-layers.ts";
import { type Import, readSourceFiles, type SourceFile } from "./support/source-files.ts";

const files = readSourceFiles();
const isTest = ({ path }: SourceFile) => /(^|\/)test(ing)?\/|\.test\.\w+$/.test(path);
const server = "packages/server/src/";
/** Where the server starts: the environment goes in, the parts come together. */
const programs = [`${server}main.ts`, `${server}app/serve.ts`];
const inServer = files.filter((file) => file.path.startsWith(server) && !isTest(file));
const inFolder = (folder: string) => inServer.filter((file) => file.path.startsWith(`${server}${folder}/`));

const worker = "serving/images/render/render-worker.ts";
/** Tells what of the environment a renderer sees. */
const confinementProbe = "serving/images/render/sandbox/probe-script.ts";
/** Who loads whom. */
const graph = new Map(
  files.map((file) => [
    file.path,
    file.imports.filter((found) => !found.isType).map((found) => found.target),
  ]),
);

/** Lists what breaks a rule, so that a failure says where to look. */
function expectNone(breaches: string[]): void {
  assert.deepEqual(breaches, []);
}

function importsOf(from: SourceFile[], isForbidden: (found: Import, file: SourceFile) => boolean): string[] {
  return from.flatMap((file) =>
    file.imports
      .filter((found) => isForbidden(found, file))
      .map((found) => `${file.path} imports ${found.target}`),
  );
}

/** Each may import those before it. What stands beside `main.ts` puts them together, or is the type of what they get. */
const layerOf = (path: string) =>
  path.startsWith(server) ? layers.indexOf(path.slice(server.length).split("/")[0] ?? "") : -1;
const engines = ["db/sqlite/", "db/postgres/", "storage/disk/", "storage/s3/"].map((path) => server + path);

describe("the layers of the server", () => {
  it("are all its folders", () => {
    const folders = inServer.map((file) => file.path.slice(server.length).split("/"));
    const found = folders.filter((parts) => parts.length > 1).map(([folder]) => folder);
    assert.deepEqual([...new Set(found)].sort(), layers.toSorted());
    const app = files.find((file) => file.path === `${server}app.ts`);
    assert.ok(
      app?.imports.some((found) => found.target === `${server}config.ts`),
      "imports are understood",
    );
  });

  it("import those before them only", () => {
    const upwards = ({ target }: Import, { path }: SourceFile) =>
      layerOf(path) !== -1 && layerOf(target) > layerOf(path);
    expectNone(importsOf(inServer, upwards));
  });

  it("know engines and stores by their interface", () => {
    const mayName = ["db", "storage", "ops", "app"].map((layer) => layers.indexOf(layer));
    const named = ({ target }: Import, { path }: SourceFile) =>
      layerOf(path) !== -1 &&
      !mayName.includes(layerOf(path)) &&
      engines.some((engine) => target.startsWith(engine));
    expectNone(importsOf(inServer, named));
  });

  it("meet the web framework in routes and hooks only, by its types", () => {
    const above = layers.slice(layers.indexOf("http") + 1, -1).flatMap(inFolder);
    const hooks = /api-keys\/(authenticate|rate-limit)|custom-hosts|dashboard\/session\//;
    // What sends bytes knows the reply.
    const mayKnowIt = (path: string) =>
      /(^|-)routes\.ts$/.test(basename(path)) ||
      hooks.test(path) ||
      layerOf(path) === layers.indexOf("serving");
    const beyondRoutes = ({ target, isType }: Import, { path }: SourceFile) =>
      target === "fastify" && !(isType && mayKnowIt(path));
    expectNone(importsOf(above, beyondRoutes));
  });

  it("read the environment in one place", () => {
    const readers = inServer.filter((file) => /process\.env\b/.test(file.text)).map((file) => file.path);
    const mayRead = [`${server}config.ts`, `${server}${confinementProbe}`, ...programs];
    expectNone(readers.filter((path) => !mayRead.includes(path)));
  });

  it("let only the programs put the parts together", () => {
    const isComposer = (file: SourceFile) =>
      programs.includes(file.path) || file.path.startsWith("packages/cli/") || isTest(file);
    const others = files.filter((file) => !isComposer(file));
    const isApp = ({ target }: Import) => target === `${server}app.ts` || target === "@upstow/server";
    expectNone(importsOf(others, isApp));
  });

  it("leave the decoding of images to the workers", () => {
    const reached = findReached(`${server}main.ts`);
    assert.ok(reached.has(`${server}serving/images/render/worker-process.ts`), "imports are followed");
    assert.ok(!reached.has("sharp") && findReached(`${server}${worker}`).has("sharp"));
  });

  it("keep the contract free of Node, so that browsers can use it", () => {
    const contract = files.filter((file) => file.path.startsWith("packages/contract/src/") && !isTest(file));
    assert.ok(contract.length > 5);
    expectNone(
      importsOf(contract, ({ target }) => target.startsWith("node:") || target.startsWith("packages/server")),
    );
  });
});

describe("every source file", () => {
  it("has at most 400 lines", () => {
    const long = files.filter((file) => file.text.split("\n").length > 401);
    expectNone(long.map((file) => file.path));
  });

  it("has a name in kebab-case", () => {
    const odd = files.filter(
      (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.(ts|tsx|mts|mjs)$/.test(basename(file.path)),
    );
    expectNone(odd.map((file) => file.path));
  });

  it("leaves nothing undone and no test out", () => {
    // Written apart, so that this file does not find itself.
    const marks = new RegExp(
      ["TO" + "DO", "FIX" + "ME", "X" + "XX"].map((mark) => `\\b${mark}\\b`).join("|"),
    );
    const leftOut = /\b(it|test|describe|suite)\.(only|todo)\(|\b(it|test|describe|suite)\.skip\(/;
    expectNone(files.filter((file) => marks.test(file.text)).map((file) => file.path));
    const tests = files.filter((file) => isTest(file) && !file.path.startsWith("scripts/"));
    expectNone(tests.filter((file) => leftOut.test(file.text)).map((file) => file.path));
  });

  it("is part of no import cycle", () => {
    expectNone(findCycles());
  });
});

function findReached(from: string): Set<string> {
  const reached = new Set([from]);
  // A set goes on with what is added while it is gone through.
  for (const path of reached) for (const target of graph.get(path) ?? []) reached.add(target);
  return reached;
}

function findCycles(): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  function visit(path: string): void {
    const at = trail.indexOf(path);
    if (at !== -1) cycles.push([...trail.slice(at), path].join(" → "));
    if (at !== -1 || done.has(path)) return;
    trail.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  }
  for (const path of graph.keys()) visit(path);
  return cycles;
}
