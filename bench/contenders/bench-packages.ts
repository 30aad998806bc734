import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bench = fileURLToPath(new URL("..", import.meta.url));

/** What only the benchmarks compare with is not among the packages of the project. */
export function needPackage(name: string): void {
  if (existsSync(join(bench, "node_modules", name))) return;
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: bench, stdio: "inherit" });
  if (status !== 0) throw new Error("npm ci in bench/ failed");
}
