import { fuzzRenders } from "./fuzz-renders.ts";
import { openTestPool } from "./open-test-pool.ts";

// node fuzz.ts [count] [seed]: a long run of what the tests do briefly.

const [count = 10_000, seed = 1] = process.argv.slice(2).map(Number);
const pool = openTestPool({
  size: 2,
  deadlineMs: 10_000,
  maxRssBytes: 512 * 1024 * 1024,
  maxJobs: Number.POSITIVE_INFINITY,
});
const startedAt = performance.now();
const report = await fuzzRenders(pool, { count, seed, lanes: 4 });
await pool.close();
const durationSec = Math.round((performance.now() - startedAt) / 1000);
process.stdout.write(`${JSON.stringify({ count, seed, durationSec, ...report }, null, 2)}\n`);
process.exitCode = report.failures.length > 0 ? 1 : 0;
