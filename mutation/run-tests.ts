import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Mutant } from "./mutants.ts";

const hook = new URL("apply-mutant.mjs", import.meta.url).href;
const root = new URL("..", import.meta.url);

export type Verdict = "killed" | "survived" | "timed out";

/** Runs one test file after the other until one fails; without a mutant all have to pass. */
export async function runTests(
  file: string,
  mutant: Mutant | null,
  tests: string[],
  timeoutMs: number,
): Promise<Verdict> {
  const applied = mutant && { url: new URL(file, root).href, ...mutant };
  for (const test of tests) {
    const verdict = await runTestFile(test, JSON.stringify(applied ?? {}), timeoutMs);
    if (verdict !== "survived") return verdict;
  }
  return "survived";
}

async function runTestFile(test: string, mutant: string, timeoutMs: number): Promise<Verdict> {
  const args = ["--disable-warning=ExperimentalWarning", "--test-skip-pattern=on postgres", "--test", test];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, UPSTOW_MUTANT: mutant, NODE_OPTIONS: `--import ${hook}` },
    stdio: ["ignore", "pipe", "ignore"],
    // The runner starts a process for the file; both end together.
    detached: true,
  });
  let verdict: Verdict = "survived";
  const end = (result: Verdict) => {
    verdict = result;
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const timer = setTimeout(() => end("timed out"), timeoutMs);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (verdict === "survived" && /✖ |^not ok /m.test(text)) end("killed");
  });
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  return verdict === "survived" && code !== 0 ? "killed" : verdict;
}
