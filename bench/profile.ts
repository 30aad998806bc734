// node bench/profile.ts <scenario> [--seconds 5] [--clients 32] [--kib 10] [--postgres]: where the server's CPU time goes.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgresServer } from "./contenders/postgres.ts";
import { requestUpload, storeFile } from "./contenders/stored-files.ts";
import { startUpstow } from "./contenders/upstow.ts";
import { type Cost, summariseProfile } from "./harness/cpu-profile.ts";
import { startLoad } from "./harness/load.ts";

const shown = 30;
const listedFiles = 100;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    clients: { type: "string", default: "32" },
    kib: { type: "string", default: "10" },
    postgres: { type: "boolean", default: false },
  },
});
const [scenario = "list-projects"] = positionals;
const seconds = Number(values.seconds);
const folder = await mkdtemp(join(tmpdir(), "upstow-profile-"));
const profiles = join(folder, "profiles");
const database = values.postgres ? await startPostgresServer() : null;
const upstow = await startUpstow({
  folder,
  nodeOptions: ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${profiles}`],
  ...(database === null ? {} : { databaseUrl: database.url }),
});
const load = startLoad();
const sizeBytes = Number(values.kib) * 1024;
const paths =
  scenario === "put-bytes"
    ? [(await requestUpload(upstow, sizeBytes)).uploadPath]
    : [await storeFile(upstow, sizeBytes)];
if (scenario === "list-files")
  for (let stored = 1; stored < listedFiles; stored++) await storeFile(upstow, sizeBytes);
const target = { ...upstow, sizeBytes, paths, query: `limit=${listedFiles}` };
const job = { scenario, target, clients: Number(values.clients), pids: { server: upstow.pid } };
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
  `${scenario}: ${Math.round(cpuPerOperation)} µs of CPU each. Columns: µs by itself, µs with what it calls.`,
);
show("Dearest by themselves", costs);
show(
  "Dearest with what they call, in our files",
  costs.filter(({ place }) => / packages\//.test(place)).sort((a, b) => b.total - a.total),
);
await rm(folder, { recursive: true, force: true });
process.exit();
