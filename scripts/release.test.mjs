import assert from "node:assert/strict";
import { cpSync, globSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { release } from "./release.mjs";

const root = join(import.meta.dirname, "..");

function copyManifests() {
  const copy = mkdtempSync(join(tmpdir(), "release-"));
  const files = [
    "package.json",
    "package-lock.json",
    "docs/changelog.md",
    "deploy/kubernetes/upstow.yaml",
    "deploy/helm/upstow/Chart.yaml",
  ];
  const packages = globSync("packages/*/package.json", { cwd: root });
  for (const file of [...files, ...packages]) cpSync(join(root, file), join(copy, file), { recursive: true });
  return copy;
}

test("a release gives every package and its siblings one version, and dates the changelog", () => {
  const copy = copyManifests();
  release(copy, "7.8.9", "2030-01-02");
  const read = (file) => readFileSync(join(copy, file), "utf8");
  for (const name of ["sdk", "react", "cli"]) {
    const manifest = JSON.parse(read(`packages/${name}/package.json`));
    assert.equal(manifest.version, "7.8.9");
    assert.doesNotMatch(
      JSON.stringify({ ...manifest.dependencies, ...manifest.peerDependencies }),
      /"@upstow\/[^"]+":"[\^~]?0\.1/,
    );
  }
  const lock = JSON.parse(read("package-lock.json"));
  assert.equal(lock.packages[""].version, "7.8.9");
  assert.equal(lock.packages["packages/sdk"].version, "7.8.9");
  assert.match(read("deploy/helm/upstow/Chart.yaml"), /^version: 7\.8\.9\nappVersion: 7\.8\.9$/m);
  assert.match(read("deploy/kubernetes/upstow.yaml"), / image: upstow:7\.8\.9$/m);
  assert.match(read("docs/changelog.md"), /## Unreleased\n\nNothing yet\.\n\n## 7\.8\.9 \(2030-01-02\)\n/);
});

test("a version that is none is refused before anything is written", () => {
  const copy = copyManifests();
  assert.throws(() => release(copy, "v1", "2030-01-02"), /npm run release -- 1\.2\.0/);
  assert.throws(() => release(copy, undefined, "2030-01-02"), /npm run release/);
  assert.equal(
    readFileSync(join(copy, "package.json"), "utf8"),
    readFileSync(join(root, "package.json"), "utf8"),
  );
});
