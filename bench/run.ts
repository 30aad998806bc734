import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchmarks } from "./benchmarks/index.ts";
import type { Benchmark } from "./harness/report.ts";
import { toText } from "./harness/report.ts";
import { saveGlance, saveReport } from "./harness/save-report.ts";

const usage = `npm run bench [-- <name>… --rounds 5 --seconds 2 --sizes 1000,10000 --no-save]

Names: ${Object.keys(benchmarks).join(", ")}; all of them when none is given.`;

class UsageError extends Error {}

function readCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
      sizes: { type: "string" },
      save: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((name) => !(name in benchmarks));
  if (unknown.length > 0) throw new UsageError(`there is no benchmark ${unknown.join(", ")}`);
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!(Number.isInteger(rounds) && rounds > 0)) throw new UsageError("--rounds takes a whole number");
  if (!(seconds > 0)) throw new UsageError("--seconds takes a number");
  const sizes = values.sizes?.split(",").map(Number) ?? null;
  if (sizes?.some((size) => !(size > 0))) throw new UsageError("--sizes takes numbers, with commas between");
  return { names: positionals, rounds, seconds, sizes, isSaved: values.save, isHelp: values.help };
}

async function runBenchmark(name: string, benchmark: Benchmark, options: ReturnType<typeof readCommandLine>) {
  const { rounds, seconds, sizes } = options;
  const folder = await mkdtemp(join(tmpdir(), "upstow-bench-"));
  const measuredAt = new Date().toISOString();
  const [loadBefore = 0] = loadavg();
  try {
    console.log(`\n── ${name}: ${benchmark.title}`);
    const report = await benchmark.run({ folder, rounds, seconds, sizes });
    console.log(toText(report));
    if (options.isSaved)
      saveReport({ name, title: benchmark.title, rounds, seconds, measuredAt, loadBefore }, report);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  const options = readCommandLine();
  const chosen = Object.entries(benchmarks).filter(
    ([name]) => options.names.length === 0 || options.names.includes(name),
  );
  if (options.isHelp) console.log(usage);
  else {
    for (const [name, benchmark] of chosen) await runBenchmark(name, benchmark, options);
    if (options.isSaved) console.log(saveGlance(Object.keys(benchmarks)));
  }
  process.exit();
} catch (error) {
  if (error instanceof UsageError) console.error(`${error.message}\n\n${usage}`);
  else console.error(error);
  process.exit(1);
}
