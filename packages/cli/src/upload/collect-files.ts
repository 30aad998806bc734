import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { OperatorError } from "../command.ts";

export interface LocalFile {
  /** Absolute. */
  path: string;
  /** The name that it is stored under: inside a folder, its path from there, so that no two get mixed up. */
  name: string;
  sizeBytes: number;
  modifiedMs: number;
}

/** Every file that is named, and every file below a folder that is named. Links are followed only when named. */
export async function collectFiles(paths: readonly string[]): Promise<LocalFile[]> {
  const found: LocalFile[] = [];
  for (const given of paths) {
    const path = resolve(given);
    const entry = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") throw new OperatorError("NOT_FOUND", `There is no file ${given}.`);
      throw error;
    });
    if (entry.isDirectory()) found.push(...(await collectBelow(path)));
    else if (!entry.isFile()) {
      const advice = "Write what it gives into a file first.";
      throw new OperatorError("VALIDATION_ERROR", `${given} is neither a file nor a folder. ${advice}`);
    } else found.push(describe(path, basename(path), entry));
  }
  return found;
}

async function collectBelow(folder: string): Promise<LocalFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.sort().map(async (path) => {
      const name = [basename(folder), ...relative(folder, path).split(sep)].join("/");
      return describe(path, name, await stat(path));
    }),
  );
}

function describe(
  path: string,
  name: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): LocalFile {
  return { path, name, sizeBytes: size, modifiedMs: mtimeMs };
}
