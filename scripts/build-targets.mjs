import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { lastLines, runCaptured, SetUpError, secondsSince } from "./run-captured.mjs";

/**
 * @typedef {object} BuildTarget
 * @property {string} name
 * @property {string[]} inputs files and folders, from the root; a folder counts with everything below it
 * @property {string} output the folder the command writes
 * @property {string[]} command runs in the root with node_modules/.bin first in PATH
 */

/** What serving needs built. The tools a command uses are `dependencies`: `npm start` installs no others. */
/** @type {BuildTarget[]} */
export const buildTargets = [
  {
    name: "query builder",
    inputs: ["packages/server/build-query-builder.mjs", "packages/server/package.json"],
    output: "packages/server/dist",
    command: ["node", "packages/server/build-query-builder.mjs"],
  },
  {
    name: "dashboard",
    inputs: [
      "packages/contract/src",
      "packages/dashboard/app",
      "packages/dashboard/index.html",
      "packages/dashboard/package.json",
      "packages/dashboard/tsconfig.json",
      "packages/dashboard/vite.config.mjs",
      "packages/kit/src",
      "packages/sdk/src",
    ],
    output: "packages/dashboard/dist",
    command: ["vite", "build", "packages/dashboard", "--logLevel", "warn"],
  },
  {
    name: "gallery",
    inputs: [
      "packages/gallery/build.mjs",
      "packages/gallery/src/page",
      "packages/react/harness/bundle.mjs",
      "packages/react/src",
      "packages/sdk/src",
    ],
    output: "packages/gallery/dist",
    command: ["node", "packages/gallery/build.mjs"],
  },
  {
    name: "client packages",
    inputs: [
      "packages/cli/README.md",
      "packages/cli/build.mjs",
      "packages/cli/package.json",
      "packages/cli/src",
      "packages/contract/src",
      "packages/mcp/src/scaffolds",
      "packages/react/README.md",
      "packages/react/build.mjs",
      "packages/react/package.json",
      "packages/react/src",
      "packages/react/tsconfig.build.json",
      "packages/react/tsconfig.json",
      "packages/sdk/README.md",
      "packages/sdk/build.mjs",
      "packages/sdk/package.json",
      "packages/sdk/src",
      "packages/sdk/tsconfig.build.json",
      "packages/sdk/tsconfig.commonjs.json",
      "packages/sdk/tsconfig.strip-metadata.json",
      "packages/uppy/README.md",
      "packages/uppy/package.json",
      "packages/uppy/src",
      "packages/uppy/tsconfig.build.json",
      "scripts/build-client-packages.mjs",
      "scripts/build-package.mjs",
      "scripts/tarball.mjs",
      "tsconfig.base.json",
    ],
    output: "dist/packages",
    command: ["node", "scripts/build-client-packages.mjs"],
  },
];

// Beside the packages on purpose: a fresh install makes every target stale.
const stampPath = (root, target) => join(root, "node_modules", ".upstow-build", target.name);

function listFiles(root, path, output) {
  if (path === output) return [];
  if (!statSync(join(root, path)).isDirectory()) return [path];
  const names = readdirSync(join(root, path)).filter((name) => name !== "node_modules");
  return names.sort().flatMap((name) => listFiles(root, join(path, name), output));
}

function hashInputs(root, target) {
  const hash = createHash("sha256").update(JSON.stringify(target.command));
  const files = target.inputs.flatMap((input) => listFiles(root, input, target.output));
  for (const file of ["package-lock.json", ...files]) {
    const content = readFileSync(join(root, file));
    hash.update(`\n${file} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** @param {string} root @param {BuildTarget} target */
export function isStale(root, target) {
  const stamp = stampPath(root, target);
  if (!existsSync(stamp) || !existsSync(join(root, target.output))) return true;
  return readFileSync(stamp, "utf8") !== hashInputs(root, target);
}

/** @param {string} root @param {BuildTarget} target @param {(message: string) => void} say */
export async function buildTarget(root, target, say) {
  const startedMs = Date.now();
  const hash = hashInputs(root, target);
  say(`building ${target.name} …`);
  const [program, ...args] = target.command;
  const env = {
    ...process.env,
    PATH: [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter),
  };
  const { ok, output } = await runCaptured(program, args, { cwd: root, env });
  if (!ok) {
    throw new SetUpError(
      `Building ${target.name} failed. Its last lines:\n${lastLines(output)}\n` +
        `  To see it all: npx ${target.command.join(" ")}`,
    );
  }
  if (!existsSync(join(root, target.output))) {
    throw new SetUpError(`Building ${target.name} succeeded but left no ${target.output}.`);
  }
  mkdirSync(dirname(stampPath(root, target)), { recursive: true });
  writeFileSync(stampPath(root, target), hash);
  say(`built ${target.name} in ${secondsSince(startedMs)}`);
}
