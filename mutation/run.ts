// Changes the code in small ways, one at a time, and runs the tests that should notice.
// On SQLite, but for tests of several instances: the mutants are in code that both databases share.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { readOrExplain } from "../test/support/command-line.ts";
import { createRandom } from "../torture/random.ts";
import { inParallel } from "../torture/with-app.ts";
import { type Equivalent, equivalents } from "./equivalents.ts";
import { listMutants, type Mutant } from "./mutants.ts";
import { openRemembered } from "./remembered.ts";
import { saveScore } from "./report.ts";
import { type Target, targets } from "./targets.ts";
import { createJudge, type Verdict } from "./try-mutant.ts";

const requiredScore = 0.8;

interface Candidate {
  target: Target;
  mutant: Mutant;
  /** Why nobody can notice it; null where somebody should. */
  why: string | null;
}

function findReason({ file }: Target, { what }: Mutant, line: string): string | null {
  const isMeant = (one: Equivalent) => one.file === file && one.what === what && one.line === line.trim();
  return equivalents.find(isMeant)?.why ?? null;
}

const usage = `npm run mutants -- [word …] [--sample N] [--seed N] [--minutes 120] [--at-once N] [--resume] [--no-save]

Words choose among what --list prints; the report is of runs without.

--at-once  mutants tried side by side; as many as there are processors where not said
--resume   keeps the verdicts of earlier runs that still hold
--list     prints the mutants and tries none
`;

const { values, positionals } = readOrExplain(usage, () =>
  parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      sample: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "120" },
      "at-once": { type: "string", default: String(availableParallelism()) },
      resume: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      save: { type: "boolean", default: true },
      help: { type: "boolean", short: "h", default: false },
    },
  }),
);
const print = (text: string) => void process.stdout.write(`${text}\n`);
if (values.help) {
  print(usage);
  process.exit();
}
const describe = ({ target, mutant }: Candidate) => `${target.file}:${mutant.line} ${mutant.what}`;

const candidates = targets
  .flatMap((target): Candidate[] => {
    const source = readFileSync(new URL(`../${target.file}`, import.meta.url), "utf8");
    return listMutants(source).map((mutant) => ({
      target,
      mutant,
      why: findReason(target, mutant, source.split("\n")[mutant.line - 1] ?? ""),
    }));
  })
  .filter(
    (candidate) => positionals.length === 0 || positionals.some((word) => describe(candidate).includes(word)),
  );

function sample(from: Candidate[], count: number, seed: number): Candidate[] {
  const random = createRandom(seed);
  const rest = [...from];
  const taken: Candidate[] = [];
  while (taken.length < count && rest.length > 0)
    taken.push(...rest.splice(random.int(0, rest.length - 1), 1));
  return taken;
}

if (values.list) {
  for (const candidate of candidates) print(describe(candidate));
  process.exit(0);
}
const startedAt = new Date();
const remembered = openRemembered(values.resume);
const judge = createJudge(print);
const picked = sample(candidates, Number(values.sample), Number(values.seed));
const verdicts: { candidate: Candidate; verdict: Verdict }[] = [];
const unnoticed: Verdict = { outcome: "survived", by: null };
const settle = (candidate: Candidate, verdict: Verdict) => {
  verdicts.push({ candidate, verdict });
  const by = verdict.by === null ? "" : ` by ${verdict.by}`;
  print(`${verdicts.length}/${picked.length} ${verdict.outcome}: ${describe(candidate)}${by}`);
};
const open = picked.filter((candidate) => {
  const verdict = candidate.why === null ? remembered.find(candidate.target, candidate.mutant) : unnoticed;
  if (verdict !== null) settle(candidate, verdict);
  return verdict === null;
});
await inParallel(open.length, Number(values["at-once"]), async (index) => {
  const candidate = open[index];
  if (candidate === undefined || Date.now() - startedAt.getTime() > Number(values.minutes) * 60_000) return;
  const verdict = await judge(candidate.target, candidate.mutant);
  remembered.keep(candidate.target, candidate.mutant, verdict);
  settle(candidate, verdict);
});

const noticed = verdicts.filter(({ verdict }) => verdict.outcome !== "survived").length;
const score = verdicts.length === 0 ? 0 : noticed / verdicts.length;
print(`\n${noticed} of ${verdicts.length} mutants were noticed (${Math.round(score * 100)}%)`);
for (const { candidate, verdict } of verdicts)
  if (verdict.outcome === "survived") print(`survived: ${describe(candidate)}`);
if (values.save && positionals.length === 0)
  saveScore({
    startedAt,
    all: candidates.length,
    seed: Number(values.seed),
    tried: verdicts.map(({ candidate, verdict }) => ({
      file: candidate.target.file,
      what: describe(candidate),
      outcome: verdict.outcome,
      why: candidate.why,
    })),
  });
process.exit(score >= requiredScore ? 0 : 1);
