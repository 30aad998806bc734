import { rm } from "node:fs/promises";
import { backup, DatabaseSync } from "node:sqlite";
import { syncFile } from "./durable-files.ts";

const allPages = 2 ** 31 - 1;

/**
 * Copies an embedded database as it is at one moment, while others read and write it. All pages go in one step,
 * under one read transaction: in several, every commit in between would start the copy over.
 */
export async function takeSnapshot(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  const source = new DatabaseSync(from, { timeout: 5000 });
  try {
    await backup(source, to, { rate: allPages });
  } finally {
    source.close();
  }
  await syncFile(to);
}
