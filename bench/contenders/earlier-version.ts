import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The sources as they were at a commit, beside today's packages of others; returns their folder, or null where the
 * history is not at hand (a shallow clone, an archive).
 */
export async function findEarlierVersion(folder: string, commit: string): Promise<string | null> {
  const earlier = await mkdtemp(join(folder, "earlier-"));
  const archive = `git -C "$0" archive "$1" packages docs package.json | tar -x -C "$2"`;
  const { status } = spawnSync("bash", ["-o", "pipefail", "-c", archive, root, commit, earlier]);
  if (status !== 0) return null;
  await linkPackages(join(root, "node_modules"), join(earlier, "node_modules"), join(earlier, "packages"));
  for (const name of await readdir(join(earlier, "packages"))) {
    const own = join(root, "packages", name, "node_modules");
    if (existsSync(own)) await symlink(own, join(earlier, "packages", name, "node_modules"));
  }
  // Kysely in one file, as set-up bundles it.
  await symlink(join(root, "packages/server/dist"), join(earlier, "packages/server/dist"));
  return earlier;
}

/** Everything of others as it is; our own packages from the earlier sources. */
async function linkPackages(from: string, to: string, packages: string): Promise<void> {
  await mkdir(join(to, "@upstow"), { recursive: true });
  for (const name of await readdir(from)) {
    if (name !== "@upstow") await symlink(join(from, name), join(to, name));
  }
  for (const name of await readdir(packages)) await symlink(join(packages, name), join(to, "@upstow", name));
}
