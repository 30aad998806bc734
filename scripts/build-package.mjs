// Makes a package as it is published. Inside this repository everybody imports the sources, so nothing has to be
// built before it can be used or tested.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * File by file: "use client" stays where it is written, and an application bundles only what it imports.
 * @param {string} root the package's folder
 * @param {{ exports?: object, alsoWrite?: (output: string) => void }} [options] `exports` where they are more than
 *   one module for each source
 */
export function buildPackage(root, { exports, alsoWrite } = {}) {
  const output = resolve(process.argv[2] ?? join(root, "dist"));
  rmSync(output, { recursive: true, force: true });
  compile(join(root, "tsconfig.build.json"), output);
  const commonJs = join(root, "tsconfig.commonjs.json");
  if (existsSync(commonJs)) {
    compile(commonJs, join(output, "cjs"));
    writeFileSync(join(output, "cjs/package.json"), '{ "type": "commonjs" }\n');
  }
  alsoWrite?.(output);
  writeManifest(root, output, exports);
  cpSync(join(root, "README.md"), join(output, "README.md"));
}

/** @param {string} config */
export function compile(config, output) {
  const tsc = join(import.meta.dirname, "../node_modules/typescript/bin/tsc");
  const args = [tsc, "-p", config, "--outDir", output];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  // The compiler renames imports in code and leaves them as they are in declarations.
  for (const file of globSync("**/*.d.ts", { cwd: output })) {
    const path = join(output, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll(/(from |import\()("\.[^"]*)\.tsx?"/g, '$1$2.js"'));
  }
}

function writeManifest(root, output, exports) {
  const {
    private: _,
    scripts: __,
    devDependencies: ___,
    exports: sources,
    ...published
  } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const typesVersions = exports === undefined ? typesElsewhere(sources) : null;
  const manifest = {
    ...published,
    exports: exports ?? modulesOf(sources, output),
    ...(typesVersions === null ? {} : { typesVersions }),
  };
  writeFileSync(join(output, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** @param {string} source */
const builtPath = (source) => source.replace("./src/", "").replace(/\.ts$/, "");

/** For TypeScript with `moduleResolution: node`, which reads no exports and looks for a file of the module's name. */
function typesElsewhere(sources) {
  const moved = Object.entries(sources)
    .map(([name, source]) => ({ module: name.replace(/^\.\/?/, ""), path: builtPath(source) }))
    .filter(({ module, path }) => module !== "" && path !== module && path !== `${module}/index`);
  if (moved.length === 0) return null;
  return { "*": Object.fromEntries(moved.map(({ module, path }) => [module, [`${path}.d.ts`]])) };
}

const modulesOf = (sources, output) =>
  Object.fromEntries(
    Object.entries(sources).map(([name, source]) => {
      const path = builtPath(source);
      const isBoth = existsSync(join(output, "cjs", `${path}.js`));
      return [name, isBoth ? bothAt(path) : moduleAt(`./${path}`)];
    }),
  );

/**
 * A Node that can require modules never meets the second copy, so an application has one class of each error. It is for
 * those that cannot: Jest, and TypeScript with `module: node16`.
 */
const bothAt = (path) => ({
  "module-sync": moduleAt(`./${path}`),
  import: moduleAt(`./${path}`),
  require: moduleAt(`./cjs/${path}`),
  default: moduleAt(`./${path}`).default,
});

/** @param {string} path without its extension */
export const moduleAt = (path) => ({ types: `${path}.d.ts`, default: `${path}.js` });
