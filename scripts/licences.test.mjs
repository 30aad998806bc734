import assert from "node:assert/strict";
import { test } from "node:test";
import { findForbidden, listLicences, readLicences } from "./licences.mjs";

test("every package is under a licence that is allowed, or has its reason", () => {
  const [{ packages }] = readLicences(new URL("..", import.meta.url));
  assert.ok(packages.length > 100);
  assert.deepEqual(findForbidden(packages), []);
});

test("a licence outside of the list is found, however it is written", () => {
  const lockfile = {
    packages: {
      "": { license: "MIT" },
      "packages/ours": { license: "MIT" },
      "node_modules/ours": { link: true },
      "node_modules/fine": { license: "(GPL-3.0 OR MIT)" },
      "node_modules/both": { license: "MIT AND GPL-3.0" },
      "node_modules/a/node_modules/strong": { license: "GPL-3.0-only" },
      "node_modules/unnamed": {},
      "node_modules/other": { license: "LGPL-3.0-or-later" },
      "node_modules/@img/sharp-libvips-linux-x64": { license: "LGPL-3.0-or-later" },
      "node_modules/postgres": { license: "GPL-3.0-only" },
    },
  };
  const found = findForbidden(listLicences(lockfile)).map(({ name }) => name);
  assert.deepEqual(found, ["both", "strong", "unnamed", "other", "postgres"]);
});
