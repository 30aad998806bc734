import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("slow-fsync.c", import.meta.url));

/** The environment that slows a program's fsync to 1 ms; null where there is no C compiler. */
export function findSlowFsync(folder: string): { LD_PRELOAD: string } | null {
  const library = join(folder, "slow-fsync.so");
  const { status } = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]);
  if (status !== 0) return null;
  // PostgreSQL runs as another user when we are root.
  chmodSync(folder, 0o755);
  return { LD_PRELOAD: library };
}
