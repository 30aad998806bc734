import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface SourceFile {
  /** From the root of the repository, with forward slashes. */
  path: string;
  text: string;
  imports: Import[];
}

export interface Import {
  /** A path from the root for a file of ours, else the name as written. */
  target: string;
  /** Erased before the program runs. */
  isType: boolean;
}

const importStatement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[\w\s{},*]*?\sfrom\s+)?"([^"\n]+)"|\bimport\(\s*"([^"\n]+)"\s*\)/g;

/** Every source file of the packages, the tests and the scripts. */
export function readSourceFiles(): SourceFile[] {
  const patterns = ["packages/*/{src,test}/**/*.{ts,tsx,mts,mjs}", "test/**/*.ts", "scripts/**/*.mjs"];
  const paths = globSync(patterns, {
    cwd: root,
    exclude: ["**/node_modules/**", "**/dist/**", "**/generated/**"],
  });
  return paths.sort().map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, imports: findImports(path, text) };
  });
}

function findImports(path: string, text: string): Import[] {
  return [...text.matchAll(importStatement)].map(([, type, statically, dynamically]) => {
    const name = statically ?? dynamically ?? "";
    const target = name.startsWith(".") ? relative(root, join(root, dirname(path), name)) : name;
    return { target, isType: type !== undefined };
  });
}
