import { listBlocks } from "../../packages/site/test/support/doc-files.ts";

/** A change to a file of an application: all of it, or a replacement in it. */
export type Edit = string | ((text: string) => string);

export interface AppRow {
  /** What `npm run test:apps -- word` looks for. */
  name: string;
  /** One of `package.json`, with its arguments. Where there is none, or it fetches from GitHub, `files` hold all. */
  generator?: (folder: string) => string[];
  manager?: ManagerName;
  /** Where the command comes from that sets it up; by hand, the SDK alone is installed. Packages come from the running
   * instance in any case. */
  initFrom?: "checkout" | "instance" | "by hand";
  /** Instead of init: a page of `docs/guides`, of which every file is written and every command run. */
  guide?: string;
  /** Before `upstow init`. */
  files: Record<string, Edit>;
  /** After it: the page, and what its notes ask for. */
  changes: Record<string, Edit>;
  /** Where init wrote the rules of uploads. */
  handler?: string | undefined;
  /** Each is run by the package manager. */
  build: string[][];
  /** Run by node. Where there is none, the commands above are the test. */
  serve?: (port: number) => string[];
  /** Svelte has no components of ours. */
  hasComponents?: false;
}

export type ManagerName = "npm" | "pnpm" | "yarn 1" | "yarn 4" | "bun";

/** Set by the application's class or by Tailwind's utility, and by nothing else. */
export const ownColour = "rgb(1, 2, 3)";
export const ownClass = `.own-button {\n  background-color: ${ownColour};\n}\n`;
const utility = "bg-[rgb(1,2,3)]";

export const replace =
  (from: string | RegExp, to: string): Edit =>
  (text) => {
    const after = text.replace(from, () => to);
    if (after === text) throw new Error(`${from} is not in:\n${text}`);
    return after;
  };

const append =
  (more: string): Edit =>
  (text) =>
    `${text}\n${more}`;
/** The same in every application, so that their pictures can be compared. */
export const demo = (
  className = "own-button",
) => `import { UploadButton, UploadDropzone } from "@upstow/react";
import { useState } from "react";

export default function Demo() {
  const [urls, setUrls] = useState<string[]>([]);
  return (
    <div id="demo">
      <UploadDropzone route="image" onUploaded={({ file }) => setUrls((known) => [...known, file.url])} />
      <UploadButton route="image" classNames={{ button: "${className}" }} />
      {urls.map((url) => <a key={url} href={url}>{url}</a>)}
    </div>
  );
}
`;

/** The page of a guide, to the letter. */
const sveltePage = listBlocks("docs/guides/sveltekit.md").find(({ language }) => language === "svelte");

const json = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** Google's fonts are on another machine. */
const withoutGoogleFonts = (text: string) =>
  text
    .replace(/^import .*next\/font\/google";\n/m, "")
    .replace(/^const \w+ = Geist\w*\(\{[^}]*\}\);\n/gm, "")
    .replace(/className=\{`[^`]*`\}/, "");

/** The template's own way is for Turbopack alone. */
const tailwindByPostcss = {
  "package.json": replace("@tailwindcss/turbopack", "@tailwindcss/postcss"),
  "postcss.config.mjs": 'export default { plugins: ["@tailwindcss/postcss"] };\n',
};

const next = ({ isTailwind, bundler }: { isTailwind: boolean; bundler: "turbopack" | "webpack" }) => ({
  generator: (folder: string) => [
    ...[
      "create-next-app",
      folder,
      "--ts",
      "--no-eslint",
      "--app",
      "--import-alias=@/*",
      "--no-react-compiler",
    ],
    ...[
      "--no-cache-components",
      "--no-agents-md",
      "--no-agent-feedback",
      "--disable-git",
      "--skip-install",
      "--yes",
    ],
    ...[isTailwind ? "--tailwind" : "--no-tailwind", isTailwind ? "--src-dir" : "--no-src-dir"],
  ],
  files: {
    [isTailwind ? "src/app/layout.tsx" : "app/layout.tsx"]: withoutGoogleFonts,
    ...(isTailwind && bundler === "webpack" ? tailwindByPostcss : {}),
  },
  changes: isTailwind
    ? { "src/app/page.tsx": `"use client";\n\n${demo(utility)}` }
    : { "app/page.tsx": `"use client";\n\n${demo()}`, "app/globals.css": append(ownClass) },
  handler: isTailwind ? "src/app/api/upload/route.ts" : "app/api/upload/route.ts",
  build: [["next", "build", ...(bundler === "webpack" ? ["--webpack"] : [])]],
  serve: (port: number) => ["node_modules/next/dist/bin/next", "start", "--port", String(port)],
});

const nextPlain = next({ isTailwind: false, bundler: "turbopack" });

const vite = {
  generator: (folder: string) => ["create-vite", folder, "--template", "react-ts", "--no-interactive"],
  files: {},
  changes: {
    "src/App.tsx": `import "./App.css";\n${demo()}`,
    "src/App.css": ownClass,
    "server.ts": replace("app.listen(3000", "app.listen(process.env.PORT"),
  },
  handler: "server.ts",
  build: [
    ["tsc", "-b"],
    ["vite", "build"],
  ],
  serve: () => ["--env-file=.env", "server.ts"],
};

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
const pagePackages = { react: "19", "react-dom": "19" };
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

const express = server(
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

const hono = server(
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

const fastify = {
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

const astro = {
  files: {
    "package.json": json({
      ...{ name: "shop", private: true, type: "module" },
      scripts: { dev: "astro dev", build: "astro build", preview: "astro preview" },
      dependencies: {
        astro: "7.2.10",
        "@astrojs/node": "11.1.5",
        "@astrojs/react": "6.0.5",
        ...pagePackages,
      },
      devDependencies: { "@types/react": "19", "@types/react-dom": "19" },
    }),
    "tsconfig.json": json({
      extends: "astro/tsconfigs/strict",
      compilerOptions: { jsx: "react-jsx", jsxImportSource: "react" },
    }),
    "astro.config.mjs": `import node from "@astrojs/node";
import react from "@astrojs/react";
import { defineConfig } from "astro/config";

export default defineConfig({ integrations: [react()], adapter: node({ mode: "standalone" }) });
`,
  },
  changes: {
    "src/components/demo.tsx": demo(),
    // An island has to hold its provider.
    "src/components/island.tsx": `import { UploadProvider } from "../upload-provider";
import Demo from "./demo";

export default function Island() {
  return <UploadProvider><Demo /></UploadProvider>;
}
`,
    "src/pages/index.astro": `---
import Island from "../components/island";
import "../own.css";
---
<html lang="en">
  <head><meta charset="utf-8" /><title>Shop</title></head>
  <body><Island client:load /></body>
</html>
`,
    "src/own.css": ownClass,
  },
  handler: "src/pages/api/upload.ts",
  build: [["astro", "build"]],
  serve: () => ["--env-file=.env", "dist/server/entry.mjs"],
};

const reactRouter = {
  files: {
    "package.json": json({
      ...{ name: "shop", private: true, type: "module" },
      scripts: { dev: "react-router dev", build: "react-router build" },
      dependencies: {
        ...{ "@react-router/node": "7.18.4", "@react-router/serve": "7.18.4", "react-router": "7.18.4" },
        ...{ isbot: "^5", ...pagePackages },
      },
      devDependencies: {
        ...{ "@react-router/dev": "7.18.4", vite: "^7", typescript: "^5" },
        ...{ "@types/node": "24", "@types/react": "19", "@types/react-dom": "19" },
      },
    }),
    "tsconfig.json": json({
      compilerOptions: {
        ...{
          target: "es2022",
          module: "es2022",
          moduleResolution: "bundler",
          jsx: "react-jsx",
          strict: true,
        },
        ...{ lib: ["dom", "dom.iterable", "es2022"], types: ["node", "vite/client"], noEmit: true },
        ...{ rootDirs: [".", "./.react-router/types"], esModuleInterop: true, skipLibCheck: true },
        ...{ verbatimModuleSyntax: true },
      },
      include: ["app", ".react-router/types/**/*", "vite.config.ts"],
    }),
    "vite.config.ts": `import { reactRouter } from "@react-router/dev/vite";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [reactRouter()],
});
`,
    "app/root.tsx": `import { Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
import "./own.css";

export function Layout({ children }: { children: React.ReactNode }) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <Meta />
        <Links />
      </head>
      <body>
        {children}
        <ScrollRestoration />
        <Scripts />
      </body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}
`,
    "app/own.css": ownClass,
    "app/routes.ts": `import { type RouteConfig, index } from "@react-router/dev/routes";

export default [index("routes/home.tsx")] satisfies RouteConfig;
`,
    "app/routes/home.tsx": "export default function Home() {\n  return <p>Hello</p>;\n}\n",
  },
  changes: { "app/routes/home.tsx": demo() },
  handler: "app/routes/api.upload.ts",
  build: [["react-router", "typegen"], ["tsc"], ["react-router", "build"]],
  serve: () => ["--env-file=.env", "node_modules/@react-router/serve/bin.js", "build/server/index.js"],
};

const sveltekit = {
  generator: (folder: string) => [
    ...["sv", "create", folder, "--template", "minimal", "--types", "ts", "--no-add-ons", "--no-install"],
  ],
  files: {},
  changes: { "src/routes/+page.svelte": sveltePage?.code ?? "" },
  handler: "src/routes/api/upload/+server.ts",
  build: [["svelte-kit", "sync"], ["svelte-check"], ["vite", "build"]],
  serve: (port: number) => ["node_modules/vite/bin/vite.js", "preview", "--port", String(port)],
  hasComponents: false as const,
};

/** Nothing but the SDK in a package without "type", as most that are some years old. */
const commonJs = (files: Record<string, Edit>, tools: Record<string, string>, build: string[][]) => ({
  initFrom: "by hand" as const,
  files: { "package.json": json({ name: "shop", private: true, devDependencies: tools }) },
  changes: files,
  build,
});

const jest = commonJs(
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

const node16 = commonJs(
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
const nodes = commonJs(
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
const guided = (guide: string, packages: Record<string, string>) => ({
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

/** Yarn 4 writes no node_modules unless it is told to. */
const plugAndPlay = ["--require", "./.pnp.cjs", "--experimental-loader", "./.pnp.loader.mjs"];

export const apps: AppRow[] = [
  { name: "next turbopack", ...nextPlain },
  { name: "next turbopack tailwind", ...next({ isTailwind: true, bundler: "turbopack" }) },
  { name: "next webpack", ...next({ isTailwind: false, bundler: "webpack" }) },
  { name: "next webpack tailwind", ...next({ isTailwind: true, bundler: "webpack" }) },
  { name: "vite", ...vite },
  { name: "astro", ...astro },
  { name: "react-router", ...reactRouter },
  { name: "express esbuild", ...express },
  { name: "fastify", ...fastify, initFrom: "instance" },
  { name: "hono", ...hono },
  { name: "sveltekit", ...sveltekit },
  { name: "vite pnpm", ...vite, manager: "pnpm" },
  { name: "express yarn 1", ...express, manager: "yarn 1", initFrom: "instance" },
  { name: "hono yarn 4", ...hono, manager: "yarn 4", serve: () => [...plugAndPlay, ...hono.serve()] },
  { ...nextPlain, name: "guide next", guide: "next", changes: {}, handler: undefined, hasComponents: false },
  guided("express", { express: "^5" }),
  guided("fastify", { fastify: "^5" }),
  guided("hono", { hono: "^4" }),
  {
    name: "next commonjs external",
    ...nextPlain,
    files: {
      ...nextPlain.files,
      "next.config.ts": replace("/* config options here */", 'serverExternalPackages: ["@upstow/sdk"],'),
    },
  },
  { name: "jest commonjs", ...jest },
  { name: "typescript node16 commonjs", ...node16 },
  { name: "node 20 22 24 commonjs", ...nodes },
  { name: "hono bun", ...hono, manager: "bun", initFrom: "instance" },
];
