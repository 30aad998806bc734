// Makes `dist`, the package as it is published. Inside this repository everybody imports the sources, so nothing
// here has to be built before it can be used or tested.
//   node build.mjs [folder]     writes elsewhere
import { spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = import.meta.dirname;
const output = resolve(process.argv[2] ?? join(root, "dist"));

rmSync(output, { recursive: true, force: true });
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "../../node_modules/typescript/bin/tsc"),
    "-p",
    join(root, "tsconfig.build.json"),
    "--outDir",
    output,
  ],
  { stdio: "inherit" },
);
if (status !== 0) process.exit(1);

// The compiler renames imports in code and leaves them as they are in declarations.
for (const file of globSync("**/*.d.ts", { cwd: output })) {
  const path = join(output, file);
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/(from |import\()("\.[^"]*)\.ts"/g, '$1$2.js"'));
}

const {
  private: _,
  scripts: __,
  exports: sources,
  ...published
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entries = Object.entries(sources).map(([name, source]) => {
  const built = source.replace("./src/", "./").replace(/\.ts$/, "");
  return [name, { types: `${built}.d.ts`, default: `${built}.js` }];
});
writeFileSync(
  join(output, "package.json"),
  `${JSON.stringify({ ...published, exports: Object.fromEntries(entries) }, null, 2)}\n`,
);
cpSync(join(root, "README.md"), join(output, "README.md"));
