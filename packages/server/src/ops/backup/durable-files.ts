import { constants } from "node:fs";
import { copyFile, open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Shares the bytes until one side changes, where the filesystem can. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await syncFile(to);
}

export async function writeDurably(path: string, text: string): Promise<void> {
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
