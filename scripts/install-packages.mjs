import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative, sep } from "node:path";
import { lastLines, runCaptured, SetUpError, secondsSince } from "./run-captured.mjs";

// npm ci empties node_modules first, so an install that was cut short leaves no stamp.
const stampPath = (root) => join(root, "node_modules", ".upstow-install.json");
const nodePath = (root) => join(root, "node_modules", ".bin", "node");
const leastNode = 24;
// npm's own pauses between tries add up to a silent minute when there is no network.
const quickRetries = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
const machine = `${process.platform}-${process.arch}`;

function findStamp(root) {
  try {
    return JSON.parse(readFileSync(stampPath(root), "utf8"));
  } catch {
    return null;
  }
}

function hashLockfile(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** @param {string} root @param {"serve" | "test"} scope */
export function isInstalled(root, scope) {
  const stamp = findStamp(root);
  return (
    stamp?.lockfile === hashLockfile(root) &&
    stamp.machine === machine &&
    (stamp.packages === "all" || scope === "serve") &&
    (existsSync(nodePath(root)) || stamp.node === process.version)
  );
}

// npm must not run on the Node inside the node_modules it is about to empty.
function createNpmEnv() {
  const paths = (process.env.PATH ?? "").split(delimiter);
  return {
    ...process.env,
    PATH: paths.filter((path) => !path.includes(`${sep}node_modules${sep}.bin`)).join(delimiter),
  };
}

function adviseOn(output) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/.test(output)) {
    return "The npm registry cannot be reached. Check the network and `npm config get registry`, then run this again.";
  }
  if (/EUSAGE/.test(output)) {
    return "package.json and package-lock.json disagree. Run `npm install` and keep the changed package-lock.json.";
  }
  if (/EACCES|EPERM/.test(output)) {
    return "node_modules belongs to another user. Remove it or change its owner, then run this again.";
  }
  if (/ENOSPC/.test(output)) return "The disk is full. Free some space, then run this again.";
  return "Mend what the lines above name, then run this again.";
}

/**
 * The packages for other platforms bring a `node` too. npm 10 leaves those packages out, and then deletes the link
 * that the right one has under that name.
 */
function linkNode(root) {
  const node = join(root, "node_modules", `node-${machine}`, "bin", "node");
  const link = nodePath(root);
  if (existsSync(link) || !existsSync(node)) return;
  rmSync(link, { force: true });
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), node), link);
}

/**
 * Node comes as an optional package for this platform, so that the lockfile holds its checksum. npm skips an optional
 * package silently when there is none for the platform, but also when it could not be fetched or fails its checksum.
 * @returns {Promise<string>} the version that will run
 */
async function checkNode(root) {
  if (!existsSync(nodePath(root))) {
    const { optionalDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const name = `node-${machine}`;
    if (name in optionalDependencies)
      throw new SetUpError(
        `npm left out ${name}: its download failed, or what came does not match package-lock.json.\n` +
          `  Run \`npm install --no-save ${name}@${optionalDependencies[name]}\` to see why.`,
      );
    if (Number.parseInt(process.versions.node, 10) >= leastNode) return process.version;
    throw new SetUpError(
      `Upstow brings no Node for ${machine}, and this is ${process.version}. Install Node ${leastNode} and run this with it.`,
    );
  }
  const { ok, output } = await runCaptured(nodePath(root), ["--version"]);
  if (ok) return output.trim();
  throw new SetUpError(
    `The packages are installed, but the Node they bring does not run:\n${lastLines(output)}`,
  );
}

/**
 * Only what package.json allows may run code at installation. npm 11 keeps to that by itself; older ones would run
 * everybody's scripts, so none are run at first, and then those that are allowed.
 */
async function runAllowedScripts(root, env) {
  const { allowScripts = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const names = Object.keys(allowScripts).filter(
    (name) => allowScripts[name] && existsSync(join(root, "node_modules", name)),
  );
  if (names.length === 0) return;
  const { ok, output } = await runCaptured("npm", ["rebuild", "--ignore-scripts=false", ...names], {
    cwd: root,
    env,
  });
  if (!ok)
    throw new SetUpError(`npm rebuild ${names.join(" ")} failed. Its last lines:\n${lastLines(output)}`);
}

/** Whoever ran the tests or `npm install` here works on the code: a later `npm start` never shrinks their install. */
function isForDevelopment(root) {
  return findStamp(root)?.packages === "all" || existsSync(join(root, "node_modules", "typescript"));
}

/** @param {string} root @param {"serve" | "test"} scope @param {(message: string) => void} say */
export async function installPackages(root, scope, say) {
  const startedMs = Date.now();
  const packages = scope === "test" || isForDevelopment(root) ? "all" : "serve";
  const args = ["ci", packages === "all" ? "--include=dev" : "--omit=dev"];
  const lockfile = hashLockfile(root);
  say(`installing packages (npm ${args.join(" ")}), a minute or two the first time …`);
  // --loglevel: under `npm run --silent` npm would not say why it failed.
  const flags = ["--ignore-scripts", "--include=optional", "--loglevel=warn", ...quickRetries];
  const env = createNpmEnv();
  const { ok, output } = await runCaptured("npm", [...args, ...flags], { cwd: root, env });
  if (!ok) {
    const [told] = output.split("npm error Clean install a project");
    throw new SetUpError(
      `npm ${args.join(" ")} failed. Its last lines:\n${lastLines(told)}\n  ${adviseOn(output)}`,
    );
  }
  await runAllowedScripts(root, env);
  linkNode(root);
  const node = await checkNode(root);
  writeFileSync(stampPath(root), JSON.stringify({ lockfile, packages, machine, node }));
  say(`installed packages in ${secondsSince(startedMs)}`);
}
