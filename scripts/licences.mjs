// Lists the licence of every package in the lockfiles, and fails where one is neither allowed nor explained.
//   npm run licences           a table of licences
//   npm run licences -- --all  every package with its licence
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const allowed = new Set(["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC"]);

/** Packages under another licence, each with the reason why it may be used. */
const exceptions = [
  {
    packages: /^@img\/sharp-(libvips-|wasm32$|win32-)/,
    licence: "LGPL-3.0-or-later",
    why: "libvips is a library of its own that sharp loads at run time; it is used unchanged and can be replaced",
  },
  {
    packages: /^@fontsource-variable\//,
    licence: "OFL-1.1",
    why: "fonts, served unchanged with their licence; it covers the fonts alone and nothing that shows them",
  },
  { packages: /^postgres$/, licence: "Unlicense", why: "tests only; given to the public domain" },
  { packages: /^fast-sha256$/, licence: "Unlicense", why: "tests only; given to the public domain" },
  { packages: /^axe-core$/, licence: "MPL-2.0", why: "tests only; used unchanged, never shipped" },
  { packages: /^(lru-cache|graceful-fs)$/, licence: "BlueOak-1.0.0", why: "tests only; permissive" },
  { packages: /^combine-errors$/, licence: "none", why: "tests only; its README states MIT" },
];

/** One word of a licence expression suffices where the licensee may choose ("OR"), all are needed otherwise. */
function isFree(expression, isAllowed) {
  const text = expression.replaceAll(/[()]/g, "");
  if (text.includes(" OR ")) return text.split(" OR ").some((part) => isFree(part, isAllowed));
  return text.split(" AND ").every((part) => isAllowed(part.trim()));
}

/** @param {{ packages: Record<string, { license?: string, link?: boolean }> }} lockfile */
export function listLicences(lockfile) {
  return Object.entries(lockfile.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && entry.link !== true)
    .map(([path, { license = "none" }]) => ({ name: path.split("node_modules/").at(-1), licence: license }));
}

/** What is neither allowed nor explained. */
export function findForbidden(packages) {
  return packages.filter(({ name, licence }) => {
    const explained = exceptions.filter((exception) => exception.packages.test(name));
    const isAllowed = (word) =>
      allowed.has(word) || explained.some((exception) => exception.licence === word);
    return !isFree(licence, isAllowed);
  });
}

export function readLicences(root) {
  const lockfiles = ["package-lock.json", "bench/package-lock.json", "test/apps/package-lock.json"];
  return lockfiles.map((path) => ({
    path,
    packages: listLicences(JSON.parse(readFileSync(new URL(path, root), "utf8"))),
  }));
}

function print() {
  // Contenders of measurements and generators of test applications are run, never shipped and never linked.
  const [{ packages }, ...others] = readLicences(new URL("..", import.meta.url));
  const byLicence = Map.groupBy(packages, ({ licence }) => licence);
  for (const [licence, all] of [...byLicence].sort(([, a], [, b]) => b.length - a.length)) {
    console.log(`${String(all.length).padStart(4)}  ${licence}`);
    if (process.argv.includes("--all")) for (const { name } of all) console.log(`        ${name}`);
  }
  for (const other of others) {
    console.log(
      `${String(other.packages.length).padStart(4)}  (in ${other.path}, for measurements and tests only)`,
    );
  }
  for (const { packages: names, licence, why } of exceptions)
    console.log(`exception ${names.source} (${licence}): ${why}`);
  const forbidden = findForbidden(packages);
  for (const { name, licence } of forbidden) console.error(`✖ ${name} is under ${licence}`);
  process.exitCode = forbidden.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) print();
