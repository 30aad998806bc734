// Makes `dist`: the script and the styles of the page, under names that change with their content.
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { examplesPlugin } from "../react/harness/bundle.mjs";

const root = import.meta.dirname;
const output = join(root, "dist");

rmSync(output, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: [join(root, "src/page/main.tsx")],
  outdir: output,
  entryNames: "gallery-[hash]",
  bundle: true,
  minify: true,
  metafile: true,
  format: "esm",
  target: "es2023",
  jsx: "automatic",
  plugins: [examplesPlugin],
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});
const files = Object.keys(metafile.outputs).map((path) => basename(path));
const find = (ending) => files.find((name) => name.endsWith(ending));
writeFileSync(join(output, "manifest.json"), JSON.stringify({ script: find(".js"), styles: find(".css") }));
