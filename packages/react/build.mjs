// Makes `dist`, the package as it is published. Inside this repository everybody imports the sources.
//   node build.mjs [folder]     writes elsewhere
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = import.meta.dirname;
const output = resolve(process.argv[2] ?? join(root, "dist"));

rmSync(output, { recursive: true, force: true });
// File by file: "use client" stays where it is written, and an application bundles only what it imports.
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
  writeFileSync(
    path,
    readFileSync(path, "utf8").replaceAll(/(from |import\()("\.[^"]*)\.tsx?"/g, '$1$2.js"'),
  );
}

// One style sheet with everything, and one for each component for those who count bytes.
mkdirSync(join(output, "styles"));
const sheets = [
  ...readFileSync(join(root, "src/styles/index.css"), "utf8").matchAll(/@import "\.\/([^"]+)"/g),
];
const whole = sheets.map(([, name]) => {
  const css = readFileSync(join(root, "src/styles", name), "utf8");
  writeFileSync(join(output, "styles", name), css);
  return css;
});
writeFileSync(join(output, "styles.css"), whole.join(""));
for (const name of ["styles.css", ...sheets.map(([, sheet]) => `styles/${sheet}`)]) {
  writeFileSync(join(output, name.replace(/\.css$/, ".d.css.ts")), "export {};\n");
}

const {
  private: _,
  scripts: __,
  devDependencies: ___,
  exports: ____,
  ...published
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entry = (name) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
const sheet = (name) => ({ types: `./${name}.d.css.ts`, default: `./${name}.css` });
const exports = {
  ".": entry("index"),
  "./catalogue": entry("catalogue/index"),
  "./styles.css": sheet("styles"),
  "./styles/*.css": sheet("styles/*"),
  "./package.json": "./package.json",
};
writeFileSync(join(output, "package.json"), `${JSON.stringify({ ...published, exports }, null, 2)}\n`);
cpSync(join(root, "README.md"), join(output, "README.md"));
