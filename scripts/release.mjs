// npm run release -- 1.2.0: sets the version of every package, of the chart and of the image that it runs, and gives the
// changelog's "Unreleased" its version and date.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const changelogPath = "docs/changelog.md";
const deployFiles = ["deploy/kubernetes/upstow.yaml", "deploy/helm/upstow/Chart.yaml"];

/** @param {string} root @param {string | undefined} version @param {string} day like 2026-01-31 */
export function release(root, version, day) {
  if (!/^\d+\.\d+\.\d+$/.test(version ?? "")) throw new Error("Say which version: npm run release -- 1.2.0");
  const changelog = readFileSync(join(root, changelogPath), "utf8");
  if (!changelog.includes("\n## Unreleased\n")) throw new Error(`${changelogPath} has nothing unreleased.`);
  const manifests = globSync(["package.json", "packages/*/package.json"], { cwd: root });
  const names = new Set(manifests.map((file) => JSON.parse(readFileSync(join(root, file), "utf8")).name));
  for (const file of manifests) edit(join(root, file), (manifest) => setVersions(manifest, names, version));
  edit(join(root, "package-lock.json"), (lock) => {
    lock.version = version;
    for (const [path, entry] of Object.entries(lock.packages))
      if (path === "" || path.startsWith("packages/")) setVersions(entry, names, version);
  });
  for (const file of deployFiles) {
    const text = readFileSync(join(root, file), "utf8");
    writeFileSync(
      join(root, file),
      text.replace(/^(\s*(?:version: |appVersion: |image: upstow:))\d+\.\d+\.\d+$/gm, `$1${version}`),
    );
  }
  writeFileSync(
    join(root, changelogPath),
    changelog.replace("\n## Unreleased\n", `\n## Unreleased\n\nNothing yet.\n\n## ${version} (${day})\n`),
  );
}

function setVersions(manifest, names, version) {
  manifest.version = version;
  for (const kind of ["dependencies", "peerDependencies", "devDependencies"])
    for (const [name, range] of Object.entries(manifest[kind] ?? {}))
      if (names.has(name) && /^[\^~]?\d/.test(range))
        manifest[kind][name] = range.replace(/\d+\.\d+\.\d+/, version);
}

function edit(path, change) {
  const content = JSON.parse(readFileSync(path, "utf8"));
  change(content);
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`);
}

if (process.argv[1] === import.meta.filename) {
  try {
    release(process.cwd(), process.argv[2], new Date().toISOString().slice(0, 10));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
