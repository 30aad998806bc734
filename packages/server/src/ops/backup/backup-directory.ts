import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { AppError } from "../../kernel/errors.ts";

/** Identifies a backup's installation and its progress. */
export interface Manifest {
  format: 1;
  /** The version of Upstow that created it. */
  version: string;
  installation: string;
  database: "embedded" | "postgres";
  /** The point in time of the backup; null until the first one is complete. */
  takenAt: string | null;
  objects: number;
  bytes: number;
}

const manifestName = "upstow-backup.json";

/** It has the layout of a data directory, so that restoring is a plain copy. */
export function layoutOf(directory: string) {
  return {
    database: join(directory, "upstow.db"),
    secret: join(directory, "secret"),
    objects: join(directory, "objects"),
    unfinished: join(directory, "unfinished"),
  };
}

/** Accepts an empty directory or an earlier backup of the same installation; anything else is left untouched. */
export async function openBackupDirectory(
  path: string,
  dataDir: string,
  first: Omit<Manifest, "takenAt" | "objects" | "bytes">,
): Promise<string> {
  const directory = resolve(path);
  if (contains(await followLinks(dataDir), await followLinks(directory))) {
    throw refuse(
      `${directory} is inside the data directory.`,
      "Choose a directory elsewhere, ideally on another disk.",
    );
  }
  await makeDirectory(directory);
  const manifest = await findManifest(directory);
  if (manifest === null) {
    if ((await readdir(directory)).length > 0) {
      throw refuse(
        `${directory} contains other files.`,
        "Choose an empty directory, or one with an earlier backup.",
      );
    }
    await writeManifest(directory, { ...first, takenAt: null, objects: 0, bytes: 0 });
  } else if (manifest.installation !== first.installation || manifest.database !== first.database) {
    throw refuse(`${directory} contains the backup of another installation.`, "Choose another directory.");
  }
  await mkdir(layoutOf(directory).unfinished, { recursive: true, mode: 0o700 });
  return directory;
}

/** As far as the path exists: with the database and files elsewhere, there may be no data directory. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isCode(error, "ENOENT", "ENOTDIR")) throw error;
    return join(await followLinks(dirname(path)), basename(path));
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (!isCode(error, "EEXIST", "ENOTDIR")) throw error;
    throw refuse(
      `${directory} is a file, or inside one.`,
      "Choose an empty directory, or one with an earlier backup.",
    );
  }
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? "");
}

export async function writeManifest(directory: string, manifest: Manifest): Promise<void> {
  await writeDurably(join(directory, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function findManifest(directory: string): Promise<Manifest | null> {
  try {
    return JSON.parse(await readFile(join(directory, manifestName), "utf8")) as Manifest;
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw refuse(`${join(directory, manifestName)} cannot be read.`, "Choose an empty directory.");
  }
}

function contains(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path === "" || (path !== ".." && !path.startsWith(`..${sep}`));
}

function refuse(message: string, suggestion: string): AppError {
  return new AppError("VALIDATION_ERROR", message, { suggestion });
}

/** Copy-on-write if the filesystem supports it. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await syncFile(to);
}

async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await syncFile(`${path}.new`);
  await rename(`${path}.new`, path);
  await syncDirectory(dirname(path));
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
