import assert from "node:assert/strict";
import { test } from "node:test";
import { findTouchedTests } from "./changed-tests.mjs";

const packages = [
  { name: "@upstow/kit", folder: "packages/kit", exports: { ".": "./src/index.ts", "./*": "./src/*.ts" } },
];
const sources = new Map(
  Object.entries({
    "packages/kit/src/index.ts": 'export * from "./deep.ts";',
    "packages/kit/src/deep.ts": "",
    "packages/kit/src/other.ts": "",
    "packages/kit/src/deep.test.ts": 'import "./deep.ts";',
    "packages/kit/src/main.ts": 'await import("./other.ts");',
    "packages/app/src/use.ts": 'import { deep } from "@upstow/kit";',
    "packages/app/test/use.test.ts": 'import "../src/use.ts";',
    "packages/app/test/other.test.ts": 'import "@upstow/kit/other";',
    "packages/app/test/start.test.ts": 'spawn(join("packages", "kit/src/main.ts"));',
    "packages/app/test/page.test.ts": 'readFileSync("docs/page.md");',
    "docs/page.md": "",
    "docs/unnamed.md": "",
    "scripts/build.mjs": 'build("packages/app/src/bundled.ts");',
    "packages/app/src/bundled.ts": "",
  }),
);
const touchedBy = (...changed) => findTouchedTests(changed, sources, packages);

test("follows imports within a package and across packages", () => {
  assert.deepEqual(touchedBy("packages/kit/src/deep.ts"), [
    "packages/app/test/use.test.ts",
    "packages/kit/src/deep.test.ts",
  ]);
});

test("follows exports with a pattern, and files that are started or read by name", () => {
  assert.deepEqual(touchedBy("packages/kit/src/other.ts"), [
    "packages/app/test/other.test.ts",
    "packages/app/test/start.test.ts",
  ]);
  assert.deepEqual(touchedBy("docs/page.md"), ["packages/app/test/page.test.ts"]);
});

test("chooses a changed test itself, and nothing for one that is gone", () => {
  assert.deepEqual(touchedBy("packages/app/test/use.test.ts"), ["packages/app/test/use.test.ts"]);
  assert.deepEqual(touchedBy("packages/app/test/gone.test.ts"), []);
});

test("finds who still imports a file that is gone", () => {
  const left = new Map([...sources].filter(([file]) => file !== "packages/kit/src/deep.ts"));
  const touched = findTouchedTests(["packages/kit/src/deep.ts"], left, packages);
  assert.deepEqual(touched, ["packages/app/test/use.test.ts", "packages/kit/src/deep.test.ts"]);
});

test("chooses everything where it cannot know", () => {
  for (const file of [
    "package.json",
    "packages/kit/package.json",
    "package-lock.json",
    "scripts/build.mjs",
  ]) {
    assert.equal(touchedBy("packages/kit/src/deep.ts", file), null, file);
  }
  assert.equal(touchedBy("test/support/redis.ts"), null);
  assert.equal(touchedBy("docs/unnamed.md"), null);
});

test("chooses all tests of a package where a script builds or starts what changed", () => {
  const touched = touchedBy("packages/app/src/bundled.ts");
  assert.deepEqual(
    touched,
    [...sources.keys()].filter((file) => file.startsWith("packages/app/test/")).sort(),
  );
});
