import { listBlocks } from "../../packages/site/test/support/doc-files.ts";
import { append, demo, json, ownClass, pagePackages, replace, utility } from "./app-row.ts";

/** The page of a guide, to the letter. */
const sveltePage = listBlocks("docs/guides/sveltekit.md").find(({ language }) => language === "svelte");

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

export const next = ({ isTailwind, bundler }: { isTailwind: boolean; bundler: "turbopack" | "webpack" }) => ({
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

export const nextPlain = next({ isTailwind: false, bundler: "turbopack" });

export const viteOnPort = { "server.ts": replace("app.listen(3000", "app.listen(process.env.PORT") };

export const vite = {
  generator: (folder: string) => ["create-vite", folder, "--template", "react-ts", "--no-interactive"],
  files: {},
  changes: {
    "src/App.tsx": `import "./App.css";\n${demo()}`,
    "src/App.css": ownClass,
    "src/typo.tsx": `import { UploadButton } from "@upstow/react";
// @ts-expect-error no such route
export const button = <UploadButton route="imgae" />;
`,
    ...viteOnPort,
  },
  handler: "upload-router.ts",
  build: [
    ["tsc", "-b"],
    ["vite", "build"],
  ],
  serve: () => ["--env-file=.env", "server.ts"],
};

export const astro = {
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

export const reactRouter = ({ version, vite, bin }: { version: string; vite: string; bin: string }) => ({
  files: {
    "package.json": json({
      ...{ name: "shop", private: true, type: "module" },
      scripts: { dev: "react-router dev", build: "react-router build" },
      dependencies: {
        ...{ "@react-router/node": version, "@react-router/serve": version, "react-router": version },
        ...{ isbot: "^5", ...pagePackages },
      },
      devDependencies: {
        ...{ "@react-router/dev": version, vite, typescript: "^5" },
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
  serve: () => ["--env-file=.env", `node_modules/@react-router/serve/${bin}`, "build/server/index.js"],
});

/** What SvelteKit 3 goes with; its generator still writes SvelteKit 2. */
const kit3 = {
  "@sveltejs/adapter-node": "^6",
  "@sveltejs/kit": "^3",
  "@sveltejs/vite-plugin-svelte": "^7",
  svelte: "^5",
  typescript: "^6",
  vite: "^8",
};

export const sveltekit = {
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

/** On Node, as it would be at home. */
export const sveltekit3 = {
  ...sveltekit,
  files: {
    "package.json": (text: string) => {
      const { devDependencies, ...manifest } = JSON.parse(text);
      const { "@sveltejs/adapter-auto": _, ...tools } = devDependencies;
      return json({
        ...manifest,
        imports: { "#lib/*": "./src/lib/*" },
        devDependencies: { ...tools, ...kit3 },
      });
    },
    "tsconfig.json": json({
      ...{ extends: "$app/tsconfig", include: ["src", "test", "*"] },
      exclude: ["src/service-worker"],
    }),
    "src/routes/+layout.svelte": replace("$lib/", "#lib/"),
    "vite.config.ts": replace("@sveltejs/adapter-auto", "@sveltejs/adapter-node"),
  },
  serve: () => ["--env-file=.env", "build/index.js"],
};
