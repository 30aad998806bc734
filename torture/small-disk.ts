import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { NotPossible } from "./not-possible.ts";

export const runProgram = promisify(execFile);

export interface MountedDisk extends AsyncDisposable {
  directory: string;
}

/** A file system of its own in memory, which is full when it is full. */
export async function mountSmallDisk(sizeBytes: number): Promise<MountedDisk> {
  const directory = await mkdtemp(join(tmpdir(), "upstow-small-"));
  try {
    await runProgram("mount", ["-t", "tmpfs", "-o", `size=${sizeBytes}`, "tmpfs", directory]);
  } catch (error) {
    await rm(directory, { recursive: true });
    throw new NotPossible(`a small disk cannot be mounted: ${String(error).split("\n")[0]}`);
  }
  return {
    directory,
    async [Symbol.asyncDispose]() {
      await runProgram("umount", [directory]);
      await rm(directory, { recursive: true });
    },
  };
}
