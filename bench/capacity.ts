// How PostgreSQL bears many files: fills it in steps and looks at the service's own statements at each.
//   node bench/capacity.ts [--rows 10000,1000000,10000000] [--partitions 42] [--minutes 20] [--folder …] [--keep] [--no-save]
// With --partitions, the table has that many of the same size, as one for each month would. The result is only printed.
// A run that is cut short, or out of time, goes on when it is started again; the data is removed after the last step.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import postgres from "postgres";
import { migrate } from "../packages/server/src/db/migrate.ts";
import { openPostgres } from "../packages/server/src/db/postgres/postgres.ts";
import { checkFreeDisk, createProjects, fillFiles, partitionFiles } from "./capacity/files.ts";
import { readProgress, startKeptPostgres, writeProgress } from "./capacity/kept-postgres.ts";
import { measureStep, type Step } from "./capacity/measurements.ts";
import { saveSteps, toReport } from "./capacity/report.ts";
import { toText } from "./harness/report.ts";

const { values } = parseArgs({
  allowNegative: true,
  options: {
    rows: { type: "string", default: "10000,1000000,10000000" },
    partitions: { type: "string", default: "1" },
    minutes: { type: "string", default: "20" },
    folder: { type: "string", default: join(tmpdir(), "upstow-capacity") },
    keep: { type: "boolean", default: false },
    save: { type: "boolean", default: true },
  },
});
const wanted = values.rows.split(",").map(Number);
const partitions = Number(values.partitions);
const deadlineMs = Date.now() + Number(values.minutes) * 60_000;
await checkFreeDisk(tmpdir(), Math.max(...wanted));
const cluster = await startKeptPostgres(values.folder);
const db = openPostgres(cluster.url, { maxConnections: 1 });
// One session to the end: filling changes settings of it.
const sql = postgres(cluster.url, { max: 1, max_lifetime: null, onnotice: () => {} });
const steps = await readProgress<Step[]>(values.folder, []);
let isDone = true;
try {
  await migrate(db);
  await createProjects(sql);
  if (partitions > 1) await partitionFiles(sql, partitions, Math.max(...wanted));
  for (const rows of wanted.filter((count) => steps.every((step) => step.rows < count))) {
    isDone = await fillFiles(sql, rows, deadlineMs);
    if (!isDone) break;
    console.log(`${rows.toLocaleString("en")} rows are there`);
    steps.push(await measureStep(db, sql, rows));
    await writeProgress(values.folder, steps);
  }
} finally {
  await db.close();
  await sql.end();
  await cluster.stop();
}
if (steps.length > 0) {
  console.log(toText(toReport(steps)));
  if (values.save && partitions === 1) saveSteps(steps);
}
if (!isDone) console.log(`\nOut of time. The same command goes on with what is in ${values.folder}.`);
else if (!values.keep) await cluster.remove();
