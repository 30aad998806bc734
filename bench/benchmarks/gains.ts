import { findEarlierVersion } from "../contenders/earlier-version.ts";
import { createDatabase, type PostgresServer, startPostgresServer } from "../contenders/postgres.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import { ratePerSec } from "../harness/growth.ts";
import type { LoadResult } from "../harness/load-job.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";
import type { Target } from "../harness/scenario.ts";
import { spreadOf } from "../harness/statistics.ts";
import { type HotPath, hotPaths } from "./hot-paths.ts";

/** The last one before hot paths were profiled. */
const beforeCommit = "5f3a83c6d1ee7fce7f896110b2366ce0aa1c8776";

interface Version {
  name: "before" | "after";
  embedded: Upstow;
  onPostgres: Upstow;
}

async function startVersion(
  name: Version["name"],
  folder: string,
  root: string | null,
  server: PostgresServer,
): Promise<Version> {
  const options = { folder, ...(root === null ? {} : { root }) };
  const embedded = await startUpstow(options);
  const databaseUrl = await createDatabase(server.url, name);
  return { name, embedded, onPostgres: await startUpstow({ ...options, databaseUrl }) };
}

async function toContender(path: HotPath, version: Version, server: PostgresServer): Promise<Contender> {
  const upstow = path.isOnPostgres ? version.onPostgres : version.embedded;
  const { label, scenario, clients, warmUpOperations, facts } = path;
  const target: Target = { port: upstow.port, key: upstow.key, ...(await facts?.(upstow)) };
  return {
    name: `${label}, ${version.name}`,
    scenario,
    clients,
    target,
    pids: { server: upstow.pid, ...(path.isOnPostgres ? { database: server.pid } : {}) },
    ...(warmUpOperations === undefined ? {} : { warmUpOperations }),
  };
}

const cpuMs = ({ cpuSec, operations }: LoadResult) =>
  (((cpuSec["server"] ?? 0) + (cpuSec["database"] ?? 0)) * 1000) / operations;

export const gains: Benchmark = {
  title: "Hot paths before they were profiled, and today",
  async run({ folder, ...options }) {
    const root = await findEarlierVersion(folder, beforeCommit);
    if (root === null)
      return { tables: [], notes: ["Left out: the history of the sources is not at hand."], data: null };
    const server = await startPostgresServer();
    const versions = [
      await startVersion("before", folder, root, server),
      await startVersion("after", folder, null, server),
    ];
    const contenders: Contender[] = [];
    for (const path of hotPaths)
      for (const version of versions) contenders.push(await toContender(path, version, server));
    const results = await runRounds(contenders, options);
    await Promise.all(versions.flatMap(({ embedded, onPostgres }) => [embedded.stop(), onPostgres.stop()]));
    await server.stop();
    const roundsOf = (label: string) => ({
      before: results.get(`${label}, before`) ?? [],
      after: results.get(`${label}, after`) ?? [],
    });
    const rows = hotPaths.map(({ label, removed }) => {
      const { before, after } = roundsOf(label);
      const middle = (rounds: LoadResult[]) => formatNumber(spreadOf(rounds.map(cpuMs)).median);
      const share = (part: (result: LoadResult) => number) =>
        formatShare(spreadOf(after.map((result, i) => part(result) / part(before[i] ?? result))));
      return [label, middle(before), middle(after), share(cpuMs), share(ratePerSec), ...removed];
    });
    return {
      tables: [
        {
          caption: `The sources of ${beforeCommit.slice(0, 7)} and those of today, by turns`,
          columns: ["", "CPU ms before", "CPU ms after", "CPU after / before", "rate after / before"],
          rows: rows.map((row) => row.slice(0, 5)),
        },
        {
          caption: "The largest costs that were found there, and what became of them",
          columns: ["", "first", "second", "third"],
          rows: rows.map((row) => [row[0] ?? "", ...row.slice(5)]),
        },
      ],
      charts: [
        {
          kind: "ratios",
          name: "gains",
          title: "CPU of one request before profiling / today: right of 1 it costs less",
          bars: hotPaths.map(({ label }) => {
            const { before, after } = roundsOf(label);
            return {
              label,
              ratio: spreadOf(before.map((result, i) => cpuMs(result) / cpuMs(after[i] ?? result))),
            };
          }),
        },
      ],
      notes: ["CPU is that of one request, with the database's where it is PostgreSQL."],
      data: { beforeCommit, results: Object.fromEntries(results) },
    };
  },
};
