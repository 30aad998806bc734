import type { Mutant } from "./mutants.ts";
import { runTestFile } from "./run-tests.ts";
import type { Target } from "./targets.ts";

export interface Verdict {
  /** Killed: a test failed. Hung: a test did not end, and not because the machine is slow. */
  outcome: "killed" | "hung" | "survived";
  /** The test file that noticed. */
  by: string | null;
}

const longestMs = 600_000;
const leastLimitMs = 30_000;
const patience = 5;
/** Longer than most: a file that has served well so far goes before one that was never run. */
const unknownMs = 30_000;

/** Knows how long test files take, and which of them notice most in the least time. */
export function createJudge(print: (text: string) => void) {
  const durations = new Map<string, number>();
  const tries = new Map<string, { run: number; noticed: number }>();

  /** A test that fails by itself would notice everything. */
  async function measure(test: string): Promise<number> {
    const { result, tookMs } = await runTestFile(test, null, longestMs);
    if (result !== "passed") throw new Error(`${test} has ${result} without a mutant`);
    print(`${test} passes in ${tookMs / 1000} s`);
    durations.set(test, tookMs);
    return tookMs;
  }

  async function tryFile(test: string, target: Target, mutant: Mutant): Promise<Verdict["outcome"]> {
    const usualMs = durations.get(test) ?? (await measure(test));
    for (let limitMs = usualMs * patience + leastLimitMs; ; ) {
      const { result } = await runTestFile(test, { file: target.file, mutant }, limitMs);
      if (result !== "overdue") return result === "failed" ? "killed" : "survived";
      // It counts only if the same file, without the mutant, ends in a fifth of the time right now.
      const neededMs = (await measure(test)) * patience + leastLimitMs;
      if (neededMs <= limitMs) return "hung";
      limitMs = neededMs;
    }
  }

  const worth = (target: Target, test: string): number => {
    const { run, noticed } = tries.get(`${target.file} ${test}`) ?? { run: 0, noticed: 0 };
    return (noticed + 1) / (run + 2) / (durations.get(test) ?? unknownMs);
  };

  async function judge(target: Target, mutant: Mutant): Promise<Verdict> {
    const tests = target.tests.toSorted((a, b) => worth(target, b) - worth(target, a));
    for (const test of tests) {
      const outcome = await tryFile(test, target, mutant);
      const { run, noticed } = tries.get(`${target.file} ${test}`) ?? { run: 0, noticed: 0 };
      const isNoticed = outcome !== "survived";
      tries.set(`${target.file} ${test}`, { run: run + 1, noticed: noticed + Number(isNoticed) });
      if (isNoticed) return { outcome, by: test };
    }
    return { outcome: "survived", by: null };
  }

  return judge;
}
