import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutants.ts";

const hook = new URL("apply-mutant.mjs", import.meta.url).href;
const root = new URL("..", import.meta.url);
const compileCache = fileURLToPath(new URL("node_modules/.cache/upstow-mutants/compiled", root));
const tickMs = 1000;

export interface TestRun {
  result: "passed" | "failed" | "overdue";
  tookMs: number;
}

/** Runs one test file, with a mutant in place of a file of the code, until its first test fails. */
export async function runTestFile(
  test: string,
  applied: { file: string; mutant: Mutant } | null,
  limitMs: number,
): Promise<TestRun> {
  const mutant = applied && { url: new URL(applied.file, root).href, ...applied.mutant };
  // A run that is cut short leaves its files behind.
  const directory = await mkdtemp(join(tmpdir(), "upstow-mutant-"));
  // Some servers of the tests run as nobody.
  await chmod(directory, 0o755);
  const args = ["--disable-warning=ExperimentalWarning", "--test-skip-pattern=on postgres", test];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: {
      ...process.env,
      UPSTOW_MUTANT: JSON.stringify(mutant ?? {}),
      NODE_OPTIONS: `--import ${hook}`,
      NODE_COMPILE_CACHE: compileCache,
      TMPDIR: directory,
    },
    stdio: ["ignore", "pipe", "ignore"],
    // What the test has started ends with it.
    detached: true,
  });
  let result: TestRun["result"] = "passed";
  let tookMs = 0;
  const end = (found: TestRun["result"]) => {
    result = found;
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  // Counted, not read from the clock: while this process stands still, so do the tests.
  const timer = setInterval(() => {
    tookMs += tickMs;
    if (tookMs > limitMs && result === "passed") end("overdue");
  }, tickMs);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (result === "passed" && text.includes("✖ ")) end("failed");
  });
  const [code] = await once(child, "exit");
  clearInterval(timer);
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  return { result: result === "passed" && code !== 0 ? "failed" : result, tookMs };
}
