// Makes the package as it is published: one program with the documentation inside.
//   node build.mjs [folder]     writes there instead of to dist
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { readWrittenPages } from "./src/docs/written-pages.ts";

const root = import.meta.dirname;
const output = resolve(process.argv[2] ?? join(root, "dist"));
const {
  private: _,
  scripts: __,
  exports: ___,
  dependencies,
  bin,
  ...published
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { "@upstow/react": ____, ...needed } = dependencies;

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
await build({
  entryPoints: [join(root, "src/stdio.ts")],
  outfile: join(output, "upstow-mcp.js"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  external: Object.keys(needed),
  plugins: [
    {
      name: "written-pages",
      setup: (builder) =>
        builder.onLoad({ filter: /written-pages\.ts$/ }, () => ({
          contents: `export const readWrittenPages = () => (${JSON.stringify(readWrittenPages())});`,
        })),
    },
  ],
});
const manifest = {
  ...published,
  engines: { node: ">=20" },
  bin: Object.fromEntries(Object.keys(bin).map((name) => [name, "upstow-mcp.js"])),
  dependencies: needed,
};
writeFileSync(join(output, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
cpSync(join(root, "README.md"), join(output, "README.md"));
cpSync(join(root, "server.json"), join(output, "server.json"));
