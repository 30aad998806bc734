import { spawnSync } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./doc-files.ts";

const compilerOptions = {
  target: "es2025",
  lib: ["es2025", "esnext", "dom", "dom.iterable", "dom.asynciterable"],
  module: "preserve",
  moduleResolution: "bundler",
  moduleDetection: "force",
  jsx: "react-jsx",
  types: ["node", "react"],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
};

/** Compiles sources, by their path in a project of their own, against the packages. Returns what the compiler says. */
export async function compileSources(sources: ReadonlyMap<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "upstow-docs-"));
  try {
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await cp(join(import.meta.dirname, "doc-shims.d.ts"), join(folder, "shims.d.ts"));
    for (const [path, code] of sources) {
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), code);
    }
    const config = { compilerOptions, files: ["shims.d.ts", ...sources.keys()] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", folder, "--singleThreaded"], {
      encoding: "utf8",
    });
    return stdout + stderr;
  } finally {
    await rm(folder, { recursive: true });
  }
}
