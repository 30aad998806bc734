import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { readOrExplain, UsageError } from "../test/support/command-line.ts";
import { createCheckpoint, runBatches, type Wanted } from "./batches.ts";
import { findCheckpoint } from "./checkpoint.ts";
import { NotPossible } from "./not-possible.ts";
import { saveReport } from "./report.ts";
import { scenarios } from "./scenarios.ts";

const usage = `npm run torture -- [name …] [--rounds N] [--seed N] [--lanes N] [--minutes 180] [--resume] [--no-save]

Names (all of them, one after the other, where none is given):
${Object.entries(scenarios)
  .map(([name, { rounds, unit }]) => `  ${name.padEnd(20)} ${rounds.toLocaleString("en")} ${unit}`)
  .join("\n")}

--lanes    installations that are tortured side by side; they share the rounds
--minutes  after them no other round begins
--resume   goes on where a run of that name was cut short
`;

function readCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      rounds: { type: "string" },
      requests: { type: "string" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
      lanes: { type: "string" },
      minutes: { type: "string", default: "180" },
      resume: { type: "boolean", default: false },
      save: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  const names = positionals.length === 0 ? Object.keys(scenarios) : positionals;
  const wanted = names.map((name): Wanted => {
    const entry = scenarios[name];
    if (entry === undefined) throw new UsageError(`there is nothing called ${name}`);
    const rounds = Number(values.rounds ?? values.requests ?? entry.rounds);
    const [seed, minutes] = [Number(values.seed), Number(values.minutes)];
    const lanes = Number(values.lanes ?? entry.lanes);
    if (![rounds, lanes, minutes].every(isCount))
      throw new UsageError("rounds, lanes and minutes are counts");
    if (!Number.isInteger(seed)) throw new UsageError("--seed takes a whole number");
    return { name, entry, rounds, seed, lanes, minutes };
  });
  return { wanted, isResumed: values.resume, isSaved: values.save, isHelp: values.help };
}

const isCount = (value: number) => Number.isInteger(value) && value > 0;
const print = (text: string) => void process.stdout.write(text);

async function run(fresh: Wanted, isResumed: boolean, isSaved: boolean): Promise<boolean> {
  const startedAt = new Date().toISOString();
  const left = isResumed ? findCheckpoint(fresh.name) : null;
  const wanted = { ...fresh, ...(left && { seed: left.seed, lanes: left.lanes, rounds: left.rounds }) };
  const { name, entry, seed, lanes } = wanted;
  print(`${name}: ${wanted.rounds} ${entry.unit}, seed ${seed}\n`);
  const { counts, violations, doneRounds, tookMs } = await runBatches(
    wanted,
    left ?? createCheckpoint(wanted),
  );
  const tookSec = Math.round(tookMs / 1000);
  print(`\n${JSON.stringify(counts, null, 1)}\n`);
  print(`${name}: ${violations.length} violations in ${doneRounds} ${entry.unit} and ${tookSec} s\n`);
  for (const violation of violations) print(`✖ ${violation}\n`);
  if (isSaved)
    saveReport(
      { name, unit: entry.unit, rounds: doneRounds, seed, lanes, startedAt, tookSec },
      { counts, violations },
    );
  return violations.length === 0;
}

/** What this machine does not allow is said and left out, so that the rest still runs. */
async function runOrExplain(...[wanted, isResumed, isSaved]: Parameters<typeof run>): Promise<boolean> {
  try {
    return await run(wanted, isResumed, isSaved);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    print(`${wanted.name} is left out: ${error.message}\n`);
    return true;
  }
}

// Servers end with this process, provided that it ends by itself.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const { wanted, isResumed, isSaved, isHelp } = readOrExplain(usage, readCommandLine);
if (isHelp) {
  print(usage);
  process.exit();
}
let isGood = true;
for (const one of wanted) isGood = (await runOrExplain(one, isResumed, isSaved)) && isGood;
process.exit(isGood ? 0 : 1);
