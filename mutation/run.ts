// Changes the code in small ways, one at a time, and runs the tests that should notice.
//   npm run mutants -- [word …] [--sample N] [--seed N] [--minutes N] [--at-once 2] [--list] [--no-save]
// Words choose among the files of targets.ts. On SQLite only: the mutants are in code that both databases share.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { createRandom } from "../torture/random.ts";
import { inParallel } from "../torture/with-app.ts";
import { listMutants, type Mutant } from "./mutants.ts";
import { saveScore } from "./report.ts";
import { runTests, type Verdict } from "./run-tests.ts";
import { type Target, targets } from "./targets.ts";

const requiredScore = 0.8;

interface Candidate {
  target: Target;
  mutant: Mutant;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    sample: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "120" },
    "at-once": { type: "string", default: String(availableParallelism()) },
    list: { type: "boolean", default: false },
    save: { type: "boolean", default: true },
  },
});
const print = (text: string) => void process.stdout.write(`${text}\n`);
const describe = ({ target, mutant }: Candidate) => `${target.file}:${mutant.line} ${mutant.what}`;

const chosen = targets.filter(
  ({ file }) => positionals.length === 0 || positionals.some((word) => file.includes(word)),
);
const candidates = chosen.flatMap((target) =>
  listMutants(readFileSync(new URL(`../${target.file}`, import.meta.url), "utf8")).map((mutant) => ({
    target,
    mutant,
  })),
);

function sample(from: Candidate[], count: number, seed: number): Candidate[] {
  const random = createRandom(seed);
  const rest = [...from];
  const taken: Candidate[] = [];
  while (taken.length < count && rest.length > 0)
    taken.push(...rest.splice(random.int(0, rest.length - 1), 1));
  return taken;
}

/** Tests that fail by themselves would kill everything. */
async function measureBaseline(): Promise<Map<string, number>> {
  const durations = new Map<string, number>();
  for (const test of new Set(chosen.flatMap(({ tests }) => tests))) {
    const startedMs = Date.now();
    if ((await runTests("none", null, [test], 600_000)) !== "survived")
      throw new Error(`${test} fails without a mutant`);
    durations.set(test, Date.now() - startedMs);
    print(`${test} passes in ${Math.round((Date.now() - startedMs) / 1000)} s`);
  }
  return durations;
}

if (values.list) {
  for (const candidate of candidates) print(describe(candidate));
  process.exit(0);
}
const startedAt = new Date();
const durations = await measureBaseline();
const slowestMs = Math.max(...durations.values());
const picked = sample(candidates, Number(values.sample), Number(values.seed));
const verdicts: { candidate: Candidate; verdict: Verdict }[] = [];
await inParallel(picked.length, Number(values["at-once"]), async (index) => {
  const candidate = picked[index];
  if (candidate === undefined || Date.now() - startedAt.getTime() > Number(values.minutes) * 60_000) return;
  const { target, mutant } = candidate;
  const verdict = await runTests(target.file, mutant, target.tests, slowestMs * 5 + 30_000);
  verdicts.push({ candidate, verdict });
  print(`${verdicts.length}/${picked.length} ${verdict}: ${describe(candidate)}`);
});

const caught = verdicts.filter(({ verdict }) => verdict !== "survived").length;
const score = verdicts.length === 0 ? 0 : caught / verdicts.length;
print(`\n${caught} of ${verdicts.length} mutants were noticed (${Math.round(score * 100)} %)`);
for (const { candidate, verdict } of verdicts)
  if (verdict === "survived") print(`survived: ${describe(candidate)}`);
if (values.save)
  saveScore({
    startedAt,
    all: candidates.length,
    seed: Number(values.seed),
    verdicts: verdicts.map(({ candidate, verdict }) => ({ file: candidate.target.file, verdict })),
  });
process.exit(score >= requiredScore ? 0 : 1);
