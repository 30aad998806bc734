import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readOrExplain, UsageError } from "../test/support/command-line.ts";
import { benchmarks } from "./benchmarks/index.ts";
import { stopPostgresServers } from "./contenders/postgres.ts";
import { killPrograms } from "./harness/program.ts";
import type { Benchmark } from "./harness/report.ts";
import { toText } from "./harness/report.ts";
import { saveGlance, saveReport } from "./harness/save-report.ts";

const usage = `npm run bench [-- <name>… --rounds 5 --seconds 2 --sizes 1000,10000 --before <commit> --no-save]

Names: ${Object.keys(benchmarks).join(", ")}; all of them when none is given.`;

function readCommandLine() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    allowNegative: true,
    options: {
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
      sizes: { type: "string" },
      before: { type: "string" },
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
  const before = values.before ?? null;
  if (before !== null && !["gains", "one-project"].includes(positionals.join()))
    throw new UsageError("--before goes with gains or one-project, one at a time");
  // What is kept is compared with one commit only.
  const isSaved = values.save && before === null;
  return { names: positionals, rounds, seconds, sizes, before, isSaved, isHelp: values.help };
}

/** A folder that is gone afterwards, however the benchmark ends; what still writes to it ends first. */
async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "upstow-bench-"));
  const clear = () => {
    killPrograms();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  process.once("exit", clear);
  try {
    return await work(folder);
  } finally {
    process.off("exit", clear);
    clear();
    await stopPostgresServers();
  }
}

async function runBenchmark(name: string, benchmark: Benchmark, options: ReturnType<typeof readCommandLine>) {
  const { rounds, seconds, sizes, before } = options;
  const measuredAt = new Date().toISOString();
  const [loadBefore = 0] = loadavg();
  const startMs = performance.now();
  console.log(`\n── ${name}: ${benchmark.title}`);
  const report = await withFolder((folder) => benchmark.run({ folder, rounds, seconds, sizes, before }));
  console.log(toText(report));
  console.log(`  (${Math.round((performance.now() - startMs) / 1000)} s)`);
  if (options.isSaved)
    saveReport({ name, title: benchmark.title, rounds, seconds, measuredAt, loadBefore }, report);
}

/** One that breaks off does not keep the others from running. Returns the names of those that did. */
async function runAll(options: ReturnType<typeof readCommandLine>): Promise<string[]> {
  const failed: string[] = [];
  for (const [name, benchmark] of Object.entries(benchmarks)) {
    if (options.names.length > 0 && !options.names.includes(name)) continue;
    try {
      await runBenchmark(name, benchmark, options);
    } catch (error) {
      console.error(error);
      failed.push(name);
    }
  }
  return failed;
}

const options = readOrExplain(usage, readCommandLine);
if (options.isHelp) {
  console.log(usage);
  process.exit();
}
const failed = await runAll(options);
if (options.isSaved) console.log(saveGlance(Object.keys(benchmarks)));
if (failed.length > 0) console.error(`\nBroke off: ${failed.join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);
