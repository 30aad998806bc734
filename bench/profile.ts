// node bench/profile.ts <hot path> [--seconds 5] [--before <commit>]: where the server's CPU time goes, today or at a commit.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hotPaths } from "./benchmarks/hot-paths.ts";
import { findEarlierVersion } from "./contenders/earlier-version.ts";
import { startPostgresServer } from "./contenders/postgres.ts";
import { startUpstow } from "./contenders/upstow.ts";
import { type Cost, summariseProfile } from "./harness/cpu-profile.ts";
import { startLoad } from "./harness/load.ts";

const shown = 30;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "5" }, before: { type: "string" } },
});
const path = hotPaths.find(({ name }) => name === positionals[0]);
if (path === undefined) {
  console.error(`Name what to profile: ${hotPaths.map(({ name }) => name).join(", ")}`);
  process.exit(2);
}
const seconds = Number(values.seconds);
const folder = await mkdtemp(join(tmpdir(), "upstow-profile-"));
const profiles = join(folder, "profiles");
const database = path.isOnPostgres ? await startPostgresServer() : null;
const root = values.before === undefined ? null : await findEarlierVersion(folder, values.before);
const upstow = await startUpstow({
  folder,
  ...(root === null ? {} : { root }),
  nodeOptions: ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${profiles}`],
  ...(database === null ? {} : { databaseUrl: database.url }),
});
const load = startLoad();
const target = { port: upstow.port, key: upstow.key, ...(await path.facts?.(upstow)) };
const job = { scenario: path.scenario, target, clients: path.clients, pids: { server: upstow.pid } };
for (let warmUp = 0; warmUp < 5; warmUp++) await load.run({ ...job, seconds: 3 });
const result = await load.run({ ...job, seconds });
load.close();
await upstow.stop();
await database?.stop();

const [file = ""] = await readdir(profiles);
const costs = summariseProfile(join(profiles, file), seconds);
const cpuPerOperation = ((result.cpuSec["server"] ?? 0) / result.operations) * 1e6;
const show = (title: string, sorted: Cost[]) => {
  console.log(`\n${title}`);
  for (const { place, self, total } of sorted.slice(0, shown)) {
    const micros = (share: number) => (share * cpuPerOperation).toFixed(1).padStart(7);
    console.log(`${micros(self)} ${micros(total)}  ${place}`);
  }
};
console.log(
  `${path.label}: ${Math.round(cpuPerOperation)} µs of CPU each. Columns: µs by itself, µs with what it calls.`,
);
show("Dearest by themselves", costs);
show(
  "Dearest with what they call, in our files",
  costs.filter(({ place }) => / packages\//.test(place)).sort((a, b) => b.total - a.total),
);
await rm(folder, { recursive: true, force: true });
process.exit();
