import type { SpawnOptions } from "node:child_process";

export function runCaptured(
  program: string,
  args: string[],
  options?: SpawnOptions,
): Promise<{ ok: boolean; output: string }>;
export function lastLines(output: string): string;
