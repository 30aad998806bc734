import { type AppRow, replace } from "./app-row.ts";
import {
  astro,
  next,
  nextPlain,
  reactRouter,
  sveltekit,
  sveltekit3,
  vite,
  viteOnPort,
} from "./page-frameworks.ts";
import { express, fastify, guided, hono, jest, node16, nodes } from "./servers.ts";

/** Yarn 4 writes no node_modules unless it is told to. */
const plugAndPlay = ["--require", "./.pnp.cjs", "--experimental-loader", "./.pnp.loader.mjs"];

export const apps: AppRow[] = [
  { name: "next turbopack", ...nextPlain },
  {
    name: "next turbopack tailwind",
    ...next({ isTailwind: true, bundler: "turbopack" }),
    initFrom: "instance",
  },
  { name: "next webpack", ...next({ isTailwind: false, bundler: "webpack" }) },
  { name: "next webpack tailwind", ...next({ isTailwind: true, bundler: "webpack" }) },
  { name: "vite", ...vite },
  { name: "astro", ...astro },
  { name: "react-router 7", ...reactRouter({ version: "7.18.4", vite: "^7", bin: "bin.js" }) },
  { name: "react-router 8", ...reactRouter({ version: "8.4.0", vite: "^8", bin: "bin.cjs" }) },
  { name: "express esbuild", ...express },
  { name: "fastify", ...fastify, initFrom: "instance" },
  { name: "hono", ...hono },
  { name: "sveltekit 2", ...sveltekit },
  { name: "sveltekit 3", ...sveltekit3, initFrom: "instance" },
  { name: "vite pnpm", ...vite, manager: "pnpm", initFrom: "instance" },
  { name: "express yarn 1", ...express, manager: "yarn 1", initFrom: "instance" },
  { name: "hono yarn 4", ...hono, manager: "yarn 4", serve: () => [...plugAndPlay, ...hono.serve()] },
  { ...nextPlain, name: "guide next", guide: "next", changes: {}, handler: undefined, hasComponents: false },
  {
    ...vite,
    name: "guide vite",
    guide: "vite",
    changes: viteOnPort,
    handler: undefined,
    hasComponents: false,
  },
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
