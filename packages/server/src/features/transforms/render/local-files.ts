import { hash } from "node:crypto";
import { closeSync, fstatSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { GetMemory } from "./frame-channel.ts";
import type { DraftFile, SourceFile, WrittenFile } from "./render-job.ts";

// A worker has nothing else to do meanwhile, so that it waits for the disk.

/** Null where the file is gone or has another size. */
export function readSourceFile({ path, sizeBytes }: SourceFile, getMemory: GetMemory): Buffer | null {
  return withFile(path, "r", (file) => {
    if (fstatSync(file).size !== sizeBytes) return null;
    const bytes = getMemory(sizeBytes);
    let doneBytes = 0;
    while (doneBytes < sizeBytes) {
      const countBytes = readSync(file, bytes, doneBytes, sizeBytes - doneBytes, doneBytes);
      if (countBytes === 0) return null;
      doneBytes += countBytes;
    }
    return bytes;
  });
}

/** Durable when it returns. Null where the image is too small for a file, or the disk did not take it. */
export function writeDraft({ path, leastBytes }: DraftFile, bytes: Buffer): WrittenFile | null {
  if (bytes.length < leastBytes) return null;
  return withFile(path, "w", (file) => {
    let doneBytes = 0;
    while (doneBytes < bytes.length) doneBytes += writeSync(file, bytes, doneBytes);
    fsyncSync(file);
    if (!syncFolder(dirname(path))) return null;
    return { sizeBytes: bytes.length, sha256: hash("sha256", bytes) };
  });
}

/** So that the file's name is durable as well. */
function syncFolder(path: string): boolean {
  const isSynced = withFile(path, "r", (folder) => {
    fsyncSync(folder);
    return true;
  });
  return isSynced ?? false;
}

/** Null where the system refuses: the service, which then reads or writes itself, knows what to say of it. */
function withFile<T>(path: string, flags: "r" | "w", work: (file: number) => T): T | null {
  let file: number | undefined;
  try {
    file = openSync(path, flags, 0o600);
    return work(file);
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
