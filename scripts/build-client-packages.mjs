// Builds the packages that applications install and packs them for the service to hand out: npm install <url>.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packTarball } from "./tarball.mjs";

const root = join(import.meta.dirname, "..");
const output = join(root, "dist/packages");
const names = ["sdk", "react", "uppy", "cli"];

async function build(name) {
  const built = join(output, name);
  const script = join(root, "packages", name, "build.mjs");
  const [status] = await once(spawn(process.execPath, [script, built], { stdio: "inherit" }), "exit");
  if (status !== 0) throw new Error(`packages/${name} cannot be built`);
  const files = globSync("**/*", { cwd: built, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(built.length + 1), content: readFileSync(path) }));
  writeFileSync(join(output, `${name}.tgz`), packTarball(files));
  const { name: fullName, version } = JSON.parse(readFileSync(join(built, "package.json"), "utf8"));
  rmSync(built, { recursive: true });
  return { name: fullName, version, file: `${name}.tgz` };
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const packages = await Promise.all(names.map(build));
writeFileSync(join(output, "packages.json"), `${JSON.stringify(packages, null, 2)}\n`);
