//   node build.mjs [folder]     writes there instead of to dist
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPackage, moduleAt } from "../../scripts/build-package.mjs";

const root = import.meta.dirname;
const sheetAt = (path) => ({ types: `${path}.d.css.ts`, default: `${path}.css` });

/** One style sheet with everything, and one for each component for those who count bytes. */
function writeStyles(output) {
  mkdirSync(join(output, "styles"));
  const index = readFileSync(join(root, "src/styles/index.css"), "utf8");
  const names = [...index.matchAll(/@import "\.\/([^"]+)"/g)].map(([, name]) => name);
  const sheets = names.map((name) => [
    `styles/${name}`,
    readFileSync(join(root, "src/styles", name), "utf8"),
  ]);
  const whole = sheets.map(([, css]) => css).join("");
  for (const [name, css] of [["styles.css", whole], ...sheets]) {
    writeFileSync(join(output, name), css);
    writeFileSync(join(output, name.replace(/\.css$/, ".d.css.ts")), "export {};\n");
  }
}

buildPackage(root, {
  alsoWrite: writeStyles,
  exports: {
    ".": moduleAt("./index"),
    "./catalogue": moduleAt("./catalogue/index"),
    "./styles.css": sheetAt("./styles"),
    "./styles/*.css": sheetAt("./styles/*"),
    "./package.json": "./package.json",
  },
});
