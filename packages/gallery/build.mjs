// Makes `dist`: the script and the styles of the page, under names that change with their content.
import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { catalogue } from "@upstow/react/catalogue";
import { build } from "esbuild";
import { examplesPlugin } from "../react/harness/bundle.mjs";

const root = import.meta.dirname;
const output = join(root, "dist");

const beach = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 403 302"><path fill="#fdba74" d="M0 0h403v302H0z"/><circle cx="130" cy="150" r="36" fill="#fffbeb"/><path fill="#1e3a8a" d="M0 170h403v132H0z"/><path fill="#d6b98c" d="M0 250q200-40 403 10v42H0z"/></svg>`;

/** The example of a stored picture, with a picture that is there. */
const storedPicture = {
  name: "stored picture",
  setup(builder) {
    builder.onLoad({ filter: /^example:upstow-image$/, namespace: "examples" }, () => ({
      contents: catalogue
        .find(({ slug }) => slug === "upstow-image")
        .usage.replace("/files/beach.jpg", `data:image/svg+xml,${encodeURIComponent(beach)}`),
      loader: "tsx",
      resolveDir: join(root, "../react/harness"),
    }));
  },
};

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
  plugins: [storedPicture, examplesPlugin],
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});
const files = Object.keys(metafile.outputs).map((path) => basename(path));
const find = (ending) => files.find((name) => name.endsWith(ending));
writeFileSync(join(output, "manifest.json"), JSON.stringify({ script: find(".js"), styles: find(".css") }));
