// Makes the command as it is published: one file that needs nothing else, with the commands of users. Those of
// operators belong to the installation and come with it.
//   node build.mjs [folder]     writes there instead of to dist
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const root = import.meta.dirname;
const output = resolve(process.argv[2] ?? join(root, "dist"));
rmSync(output, { recursive: true, force: true });

await build({
  entryPoints: [join(root, "src/user-main.ts")],
  outfile: join(output, "upstow.js"),
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  banner: { js: "#!/usr/bin/env node" },
});
chmodSync(join(output, "upstow.js"), 0o755);

const {
  private: _,
  dependencies: __,
  bin: ___,
  ...manifest
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const published = { ...manifest, bin: { upstow: "upstow.js" }, engines: { node: ">=20.19" } };
writeFileSync(join(output, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
cpSync(join(root, "README.md"), join(output, "README.md"));
