// The examples have lockfiles of their own. What only their tests need is installed before the tests run: a slow
// network must not use up the time of a test.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildTarget, isStale } from "./build-targets.mjs";
import { lastLines, runCaptured, SetUpError, secondsSince } from "./run-captured.mjs";

export const examples = ["express", "next", "sveltekit", "vite-react"];

/** The packages as they are published, which examples use by their paths. */
export const examplePackages = ["sdk", "react"];
const targets = examplePackages.map((name) => ({
  name: `example-${name}`,
  inputs: [
    `packages/${name}/src`,
    `packages/${name}/build.mjs`,
    "packages/contract/src/metadata",
    "scripts/build-package.mjs",
  ],
  output: `examples/packages/${name}`,
  command: ["node", `packages/${name}/build.mjs`, `examples/packages/${name}`],
}));

const stampPath = (root, name) => join(root, "examples", name, "node_modules/.upstow-install");

function hashLockfile(root, name) {
  const lockfile = readFileSync(join(root, "examples", name, "package-lock.json"));
  return createHash("sha256").update(lockfile).digest("hex");
}

function isInstalled(root, name) {
  const stamp = stampPath(root, name);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === hashLockfile(root, name);
}

/** @param {string} root @param {string[]} [names] */
export function areExamplesReady(root, names = examples) {
  return !targets.some((target) => isStale(root, target)) && names.every((name) => isInstalled(root, name));
}

/** @param {string} root @param {(message: string) => void} say @param {string[]} [names] */
export async function installExamples(root, say, names = examples) {
  for (const target of targets) if (isStale(root, target)) await buildTarget(root, target, say);
  for (const name of names.filter((example) => !isInstalled(root, example))) {
    const startedMs = Date.now();
    say(`installing what the example ${name} needs …`);
    const args = ["ci", "--prefer-offline", "--no-audit", "--no-fund"];
    const { ok, output } = await runCaptured("npm", args, { cwd: join(root, "examples", name) });
    if (!ok) throw new SetUpError(`npm ci in examples/${name} failed. Its last lines:\n${lastLines(output)}`);
    writeFileSync(stampPath(root, name), hashLockfile(root, name));
    say(`installed what the example ${name} needs in ${secondsSince(startedMs)}`);
  }
}
