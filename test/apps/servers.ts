import { demo, type Edit, json, ownClass, pagePackages, replace } from "./app-row.ts";

/** A page for servers that have none, made by esbuild. */
const bundledPage = {
  "src/page.tsx": `import "./own.css";
import { createRoot } from "react-dom/client";
import Demo from "./demo.tsx";
import { UploadProvider } from "./upload-provider.tsx";

createRoot(document.querySelector("#root")!).render(<UploadProvider><Demo /></UploadProvider>);
`,
  "src/demo.tsx": demo(),
  "src/own.css": ownClass,
  "public/index.html": `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<link rel="stylesheet" href="/page.css">
<div id="root"></div>
<script type="module" src="/page.js"></script>
`,
};
const bundlePage = [
  ...["esbuild", "src/page.tsx", "--bundle", "--minify", "--outdir=public", "--jsx=automatic"],
  "--format=esm",
];
const pageTools = { "@types/react": "19", "@types/react-dom": "19", esbuild: "^0.28", typescript: "^6" };
const strict = {
  compilerOptions: {
    ...{ target: "es2023", module: "nodenext", jsx: "react-jsx", strict: true, noEmit: true },
    ...{ allowImportingTsExtensions: true, verbatimModuleSyntax: true, erasableSyntaxOnly: true },
    ...{ lib: ["es2023", "dom"], types: ["node"], skipLibCheck: false },
  },
  include: ["src"],
};

const server = (packages: Record<string, string>, tools: Record<string, string>, main: string) => ({
  files: {
    "package.json": json({
      ...{ name: "shop", private: true, type: "module" },
      dependencies: { ...packages, ...pagePackages },
      devDependencies: { "@types/node": "24", ...tools, ...pageTools },
    }),
    "tsconfig.json": json(strict),
  },
  changes: { ...bundledPage, "src/css.d.ts": 'declare module "*.css";\n', "src/main.ts": main },
  handler: "src/upload.ts",
  build: [["tsc"], bundlePage],
  serve: () => ["--env-file=.env", "src/main.ts"],
});

export const express = server(
  { express: "^5" },
  { "@types/express": "^5" },
  `import express from "express";
import { app as uploads } from "./upload.ts";

const app = express();
app.use(express.json());
app.use(uploads);
app.use(express.static("public"));
app.listen(Number(process.env["PORT"]));
`,
);

export const hono = server(
  { hono: "^4", "@hono/node-server": "^2" },
  {},
  `import { serve } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { app as uploads } from "./upload.ts";

const app = new Hono();
app.route("/", uploads);
app.use("*", serveStatic({ root: "public" }));
serve({ fetch: app.fetch, port: Number(process.env["PORT"]) });
`,
);

export const fastify = {
  generator: (folder: string) => ["fastify", "generate", folder, "--lang=ts", "--esm"],
  files: {
    "package.json": (text: string) => {
      const manifest = JSON.parse(text);
      Object.assign(manifest.dependencies, pagePackages, { "@fastify/static": "^10" });
      Object.assign(manifest.devDependencies, pageTools, { typescript: manifest.devDependencies.typescript });
      return json(manifest);
    },
    // Its TypeScript asks for this, and so would its own build.
    "tsconfig.json": replace('"outDir": "dist",', '"outDir": "dist",\n    "rootDir": "src",'),
  },
  changes: {
    ...bundledPage,
    "src/routes/root.ts": `import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { createRouteHandler } from "@upstow/sdk/fastify";
import type { FastifyPluginAsync } from "fastify";
import { router } from "../upload.ts";

const root: FastifyPluginAsync = async (app) => {
  app.route({ method: ["GET", "POST"], url: "/api/upload", handler: createRouteHandler({ router }) });
  await app.register(fastifyStatic, { root: join(process.cwd(), "public") });
};

export default root;
`,
  },
  handler: "src/upload.ts",
  build: [["tsc"], bundlePage],
  serve: (port: number) => [
    ...["--env-file=.env", "node_modules/fastify-cli/cli.js", "start", "--port", String(port)],
    "dist/app.js",
  ],
};

/** Nothing but the SDK in a package without "type", as most that are some years old. */
const commonJs = (files: Record<string, Edit>, tools: Record<string, string>, build: string[][]) => ({
  initFrom: "by hand" as const,
  files: { "package.json": json({ name: "shop", private: true, devDependencies: tools }) },
  changes: files,
  build,
});

export const jest = commonJs(
  {
    "upload.test.js": `const { createUpstow, UpstowError } = require("@upstow/sdk");
const { createFileRouter, createRouteHandler } = require("@upstow/sdk/express");

test("the handler describes its routes", () => {
  const route = createFileRouter();
  expect(typeof createRouteHandler({ router: { image: route({}) } })).toBe("function");
  expect(typeof createUpstow).toBe("function");
  expect(new UpstowError("NOT_FOUND", "gone")).toBeInstanceOf(Error);
});
`,
  },
  { jest: "^30" },
  [["jest"]],
);

export const node16 = commonJs(
  {
    "tsconfig.json": json({
      compilerOptions: { module: "node16", target: "es2022", strict: true, outDir: "dist", types: ["node"] },
      files: ["main.ts"],
    }),
    "main.ts": `import { createUpstow } from "@upstow/sdk";
import { createFileRouter, type FileRouter } from "@upstow/sdk/express";

const route = createFileRouter();
export const router = { image: route({ allowedTypes: ["image/*"] }) } satisfies FileRouter;
console.log(typeof createUpstow({ apiKey: "svc_test_any" }).upload);
`,
  },
  { typescript: "^5", "@types/node": "24", "@types/express": "5" },
  [["tsc"], ["node", "dist/main.js"]],
);

const oldNodes = ["20.19.0", "22.23.3"];
export const nodes = commonJs(
  {
    "main.js": `const { UpstowError } = require("@upstow/sdk");
require("@upstow/sdk/express");
import("@upstow/sdk").then((imported) => {
  if (imported.UpstowError !== UpstowError) throw new Error(process.version + " has two of them");
});
`,
  },
  Object.fromEntries(
    oldNodes.map((version) => [`node-${version}`, `npm:node-linux-${process.arch}@${version}`]),
  ),
  [
    ["node", "main.js"],
    ...oldNodes.map((version) => [
      ...["node", "-e", "require('child_process').execFileSync(process.argv[1], ['main.js'])"],
      `./node_modules/node-${version}/bin/node`,
    ]),
  ],
);

/** A server as its guide takes for granted, with a port that is free. */
export const guided = (guide: string, packages: Record<string, string>) => ({
  name: `guide ${guide}`,
  guide,
  files: {
    "package.json": json({
      ...{ name: "shop", private: true, type: "module", dependencies: packages },
      devDependencies: { "@types/node": "24", "@types/express": "^5", typescript: "^6" },
    }),
    "tsconfig.json": json(strict),
  },
  changes: { "src/main.ts": replace("3000", 'Number(process.env["PORT"])') },
  build: [["tsc"]],
  serve: () => ["--env-file=.env", "src/main.ts"],
  hasComponents: false as const,
});
