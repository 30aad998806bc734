import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { OperatorError } from "../command.ts";

export interface LocalFile {
  /** Absolute path. */
  path: string;
  /** The stored name. For files in a folder it is the path from there, so that names stay distinct. */
  name: string;
  sizeBytes: number;
  modifiedMs: number;
}

/** Skipped without being an error. */
export interface LeftOut {
  path: string;
  name: string;
  reason: "empty" | "link" | "special";
}

interface Collected {
  files: LocalFile[];
  leftOut: LeftOut[];
}

/** All given files, and all files below given folders. Links are followed only if given directly. */
export async function collectFiles(paths: readonly string[]): Promise<Collected> {
  const [found, leftOut]: [LocalFile[], LeftOut[]] = [[], []];
  for (const given of paths) {
    const path = resolve(given);
    const entry = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") throw new OperatorError("NOT_FOUND", `There is no file ${given}.`);
      throw error;
    });
    if (entry.isDirectory()) {
      const below = await collectBelow(path);
      found.push(...below.files);
      leftOut.push(...below.leftOut);
    } else if (!entry.isFile()) {
      const advice = "Write its output to a file first.";
      throw new OperatorError("VALIDATION_ERROR", `${given} is neither a file nor a folder. ${advice}`);
    } else found.push(describe(path, basename(path), entry));
  }
  const isEmpty = ({ sizeBytes }: LocalFile) => sizeBytes === 0;
  const empty = found.filter(isEmpty).map(({ path, name }) => ({ path, name, reason: "empty" as const }));
  return { files: found.filter((file) => !isEmpty(file)), leftOut: [...empty, ...leftOut] };
}

async function collectBelow(folder: string): Promise<Collected> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
  const nameOf = (path: string) => [basename(folder), ...relative(folder, path).split(sep)].join("/");
  const regular = entries.filter(({ entry }) => entry.isFile());
  const others = entries.filter(({ entry }) => !entry.isFile());
  return {
    files: await Promise.all(regular.map(async ({ path }) => describe(path, nameOf(path), await stat(path)))),
    leftOut: others.map(({ entry, path }) => ({
      path,
      name: nameOf(path),
      reason: entry.isSymbolicLink() ? "link" : "special",
    })),
  };
}

function describe(
  path: string,
  name: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): LocalFile {
  return { path, name, sizeBytes: size, modifiedMs: mtimeMs };
}
