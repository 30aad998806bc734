// Bundles the pages into dist/. Every asset's name holds a hash of its content, so browsers may keep it for ever.
import { readFile, rm, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL(".", import.meta.url));
const dist = fileURLToPath(new URL("dist/", import.meta.url));

await rm(dist, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { app: "app/main.tsx", styles: "app/styles/index.css" },
  outdir: dist,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox121", "safari17.5"],
  jsx: "automatic",
  minify: true,
  define: { "process.env.NODE_ENV": '"production"' },
  metafile: true,
  logLevel: "warning",
});

function outputOf(entryPoint) {
  const [path] = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entryPoint);
  return relative(dist, fileURLToPath(new URL(path, import.meta.url)));
}

const template = await readFile(new URL("app/index.html", import.meta.url), "utf8");
const page = template
  .replace("{{styles}}", outputOf("app/styles/index.css"))
  .replace("{{script}}", outputOf("app/main.tsx"));
await writeFile(new URL("dist/index.html", import.meta.url), page);
