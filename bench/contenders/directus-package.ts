import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const directusVersion = "12.4.0";
const home = fileURLToPath(new URL("../node_modules/.directus/", import.meta.url));
// Directus names isolated-vm 5, which has no build for Node 24; 7 brings one, for the same calls.
const manifest = {
  name: "directus-to-compare-with",
  private: true,
  dependencies: { directus: directusVersion },
  overrides: { "isolated-vm": "7.0.1" },
};
const patienceMs = 15 * 60 * 1000;

/** The program, or null where it cannot be installed. It has a folder of its own: it brings hundreds of packages. */
export function findDirectusProgram(): string | null {
  // npm writes this file last.
  const isWhole = () => existsSync(join(home, "node_modules/.package-lock.json"));
  if (!isWhole()) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
    process.stderr.write(`  installing directus ${directusVersion}\n`);
    // No package may run a script. Peers that its own packages disagree about are left to them.
    const args = ["install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"];
    spawnSync("npm", args, { cwd: home, stdio: ["ignore", "ignore", "inherit"], timeout: patienceMs });
  }
  return isWhole() ? join(home, "node_modules/directus/cli.js") : null;
}
