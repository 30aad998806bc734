import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { killEvents } from "./kill-events.ts";
import { killUploads } from "./kill-uploads.ts";
import { saveReport } from "./report.ts";
import { runLanes, type Scenario } from "./scenario.ts";

const scenarios: Record<string, Scenario> = { "kill-uploads": killUploads, "kill-events": killEvents };
const usage = `npm run torture -- <name> [--rounds 200] [--seed N] [--lanes 2] [--minutes 20] [--no-save]

Names: ${Object.keys(scenarios).join(", ")}.
Lanes are installations that are tortured side by side; they share the rounds.
After the minutes no other round begins.
`;

function readCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      rounds: { type: "string", default: "200" },
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
      lanes: { type: "string", default: "2" },
      minutes: { type: "string", default: "20" },
      save: { type: "boolean", default: true },
    },
  });
  const [name = ""] = positionals;
  const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
  const [lanes, minutes] = [Number(values.lanes), Number(values.minutes)];
  const scenario = scenarios[name];
  const isValid =
    positionals.length === 1 && [rounds, lanes, minutes].every(isCount) && Number.isInteger(seed);
  return scenario === undefined || !isValid
    ? null
    : { name, scenario, rounds, seed, lanes, minutes, isSaved: values.save };
}

const isCount = (value: number) => Number.isInteger(value) && value > 0;
const print = (text: string) => void process.stdout.write(text);

async function run(wanted: NonNullable<ReturnType<typeof readCommandLine>>): Promise<boolean> {
  const { name, scenario, rounds, seed, lanes, minutes } = wanted;
  const startedAt = new Date();
  print(`${name}: ${rounds} rounds, seed ${seed}\n`);
  let done = 0;
  const isTimeUp = () => Date.now() - startedAt.getTime() > minutes * 60_000;
  const onRound = (round: number, counts: Record<string, number>) => {
    done = round;
    const line = Object.entries(counts).map(([what, count]) => `${what} ${count}`);
    if (process.stdout.isTTY) print(`\r\u001b[2K${round}/${rounds} · ${line.join(" · ")}`);
    else if (round % 10 === 0) print(`${round}/${rounds} · ${line.join(" · ")}\n`);
  };
  const outcome = await runLanes(scenario, { rounds, seed, lanes, isTimeUp, onRound });
  const tookSec = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const { counts, violations } = outcome;
  print(
    `\n${JSON.stringify(counts, null, 1)}\n${violations.length} violations in ${done} rounds and ${tookSec} s\n`,
  );
  for (const violation of violations) print(`✖ ${violation}\n`);
  if (violations.length > 0)
    print(`Repeat: npm run torture -- ${name} --rounds ${rounds} --seed ${seed} --lanes ${lanes}\n`);
  if (wanted.isSaved)
    saveReport({ name, rounds: done, seed, lanes, startedAt: startedAt.toISOString(), tookSec }, outcome);
  return violations.length === 0;
}

// Servers end with this process, provided that it ends by itself.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const wanted = readCommandLine();
if (wanted === null) process.stderr.write(usage);
process.exit(wanted !== null && (await run(wanted)) ? 0 : 1);
