import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";

const concernsAll = /(^|\/)package(-lock)?\.json$|^tsconfig|^scripts\/|^test\/support\//;
const isTest = (file) => /\.test\.m?ts$/.test(file);
const sourceFile = /\.(ts|tsx|mts|mjs|js|css)$/;

const git = (...args) =>
  execFileSync("git", args, { encoding: "utf8", maxBuffer: 2 ** 28 })
    .split("\0")
    .filter(Boolean);
const listChanged = () => [
  ...git("diff", "--name-only", "--no-renames", "-z", "HEAD"),
  ...git("ls-files", "--others", "--exclude-standard", "-z"),
];

/** `*` stands for the same text on both sides, as in the `exports` of a package. */
function matchExport(subpath, pattern, target) {
  const [start, end] = pattern.split("*");
  if (end === undefined) return subpath === pattern ? target : null;
  if (!subpath.startsWith(start) || !subpath.endsWith(end)) return null;
  return target.replace("*", subpath.slice(start.length, subpath.length - end.length));
}

function resolveInPackages(specifier, packages) {
  const owner = packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (owner === undefined) return null;
  const subpath = `.${specifier.slice(owner.name.length)}`;
  for (const [pattern, target] of Object.entries(owner.exports)) {
    const found = matchExport(subpath, pattern, target);
    if (found !== null) return posix.join(owner.folder, found);
  }
  return null;
}

/** Whatever a file has between quotes may name another one: what it imports, reads, or starts. */
function listNamed(file, text, packages, byName) {
  const named = [];
  for (const [, , literal] of text.matchAll(/(["'`])([^"'`\n]+)\1/g)) {
    const beside = posix.join(posix.dirname(file), literal);
    const found = resolveInPackages(literal, packages);
    if (found !== null) named.push(found);
    else if (literal.startsWith(".")) named.push(beside);
    else
      named.push(
        ...(byName.get(posix.basename(literal)) ?? []).filter((path) => `/${path}`.endsWith(`/${literal}`)),
      );
  }
  return named;
}

function mapNamers(changed, sources, packages) {
  const byName = Map.groupBy(new Set([...sources.keys(), ...changed]), (file) => posix.basename(file));
  const namers = new Map();
  for (const [file, text] of sources) {
    for (const named of listNamed(file, text, packages, byName)) {
      if (!namers.has(named)) namers.set(named, new Set());
      namers.get(named).add(file);
    }
  }
  return namers;
}

/** What a script builds or starts reaches the tests of its package in ways that no import shows. */
const isBuilt = (file, namers) =>
  !isTest(file) &&
  [...(namers.get(file) ?? [])].some((namer) => namer.startsWith("scripts/") && !isTest(namer));

function collectTests(start, sources, namers) {
  const touched = new Set([start]);
  for (const file of touched) {
    for (const namer of namers.get(file) ?? []) touched.add(namer);
    const [folder] = /^packages\/[^/]+\//.exec(file) ?? [];
    if (folder === undefined || !isBuilt(file, namers)) continue;
    for (const path of sources.keys()) if (isTest(path) && path.startsWith(folder)) touched.add(path);
  }
  return [...touched].filter((file) => isTest(file) && sources.has(file));
}

/**
 * The test files that a change can touch, or null when that may be any.
 * @param {string[]} changed
 * @param {Map<string, string>} sources all files, and the text of those that can name others
 * @param {{ name: string, folder: string, exports: Record<string, string> }[]} packages
 * @returns {string[] | null}
 */
export function findTouchedTests(changed, sources, packages) {
  if (changed.some((file) => concernsAll.test(file))) return null;
  const namers = mapNamers(changed, sources, packages);
  const touched = changed.map((file) => collectTests(file, sources, namers));
  // Some tests read whole folders.
  if (changed.some((file, index) => !isTest(file) && touched[index].length === 0)) return null;
  return [...new Set(touched.flat())].sort();
}

function readPackages() {
  return globSync("packages/*/package.json").map((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(file, "utf8"));
    return { name, folder: posix.dirname(file), exports };
  });
}

/**
 * Keeps those test files that the changes since the last commit can touch.
 * @param {string[]} testFiles
 */
export function keepTouchedTests(testFiles) {
  const files = [...git("ls-files", "-z"), ...git("ls-files", "--others", "--exclude-standard", "-z")];
  const textOf = (file) => (sourceFile.test(file) ? readFileSync(file, "utf8") : "");
  const sources = new Map(files.filter((file) => existsSync(file)).map((file) => [file, textOf(file)]));
  const touched = findTouchedTests(listChanged(), sources, readPackages());
  return touched === null ? testFiles : testFiles.filter((file) => touched.includes(file));
}
