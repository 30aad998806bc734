import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Mutant } from "./mutants.ts";
import type { Target } from "./targets.ts";
import type { Verdict } from "./try-mutant.ts";

const root = new URL("..", import.meta.url);
const path = fileURLToPath(new URL("node_modules/.cache/upstow-mutants/verdicts.json", root));

/**
 * Verdicts of earlier runs. One holds as long as the mutated file and the test that noticed are what they were; that
 * nobody noticed, as long as all the tests are.
 */
export function openRemembered(isResumed: boolean) {
  const verdicts = read();
  const keyOf = (target: Target, mutant: Mutant, tests: readonly string[]): string => {
    const hash = createHash("sha256");
    for (const file of [target.file, ...tests]) hash.update(readFileSync(new URL(file, root)));
    return `${target.file} ${mutant.start} ${mutant.end} ${mutant.text} ${hash.digest("hex")}`;
  };
  return {
    find(target: Target, mutant: Mutant): Verdict | null {
      if (!isResumed) return null;
      for (const tests of [...target.tests.map((test) => [test]), target.tests]) {
        const verdict = verdicts[keyOf(target, mutant, tests)];
        if (verdict !== undefined) return verdict;
      }
      return null;
    },
    keep(target: Target, mutant: Mutant, verdict: Verdict): void {
      const tests = verdict.by === null ? target.tests : [verdict.by];
      verdicts[keyOf(target, mutant, tests)] = verdict;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(verdicts));
    },
  };
}

function read(): Record<string, Verdict> {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
