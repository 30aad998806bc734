import { fileURLToPath } from "node:url";
import { findEarlierVersion } from "../contenders/earlier-version.ts";
import { createDatabase, type PostgresServer, startPostgresServer } from "../contenders/postgres.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { startWebhookReceiver } from "../contenders/webhook-receiver.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import { cpuUsPerOperation, ratePerSec } from "../harness/growth.ts";
import type { Benchmark, Table } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";
import type { Target } from "../harness/scenario.ts";
import { spreadOf } from "../harness/statistics.ts";
import type { Drain } from "./drain-events.ts";
import { drainByTurns } from "./gains-events.ts";
import { type Signing, signByTurns } from "./gains-signing.ts";
import { events, type HotPath, hotPaths, type ProfiledPath, signing } from "./hot-paths.ts";

const ownRoot = fileURLToPath(new URL("../..", import.meta.url));
/** The last one before hot paths were profiled. */
const unprofiledCommit = "5f3a83c6d1ee7fce7f896110b2366ce0aa1c8776";

interface Version {
  name: "before" | "after";
  embedded: Upstow;
  onPostgres: Upstow;
}

interface Cost {
  cpuMs: number;
  perSec: number;
}

/** Of every round. */
interface PathCosts extends ProfiledPath {
  before: Cost[];
  after: Cost[];
}

async function startVersion(
  name: Version["name"],
  options: { folder: string; env: Record<string, string>; root?: string },
  server: PostgresServer,
): Promise<Version> {
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

const costOfDrain = ({ cpuUsPerEvent, eventsPerSec }: Drain): Cost => ({
  cpuMs: cpuUsPerEvent / 1000,
  perSec: eventsPerSec,
});

const costOfSigning = ({ cpuUsPerUrl, urlsPerSec }: Signing): Cost => ({
  cpuMs: cpuUsPerUrl / 1000,
  perSec: urlsPerSec,
});

function toRow({ label, before, after }: PathCosts): string[] {
  const middle = (costs: Cost[]) => formatNumber(spreadOf(costs.map(({ cpuMs }) => cpuMs)).median);
  const share = (part: keyof Cost) =>
    formatShare(spreadOf(after.map((cost, i) => cost[part] / (before[i] ?? cost)[part])));
  return [label, middle(before), middle(after), share("cpuMs"), share("perSec")];
}

const whatProfilingFound = (paths: readonly ProfiledPath[]): Table => ({
  caption: "The largest costs found, and what was done about them",
  columns: ["", "first", "second", "third"],
  rows: paths.map(({ label, costs }) => [label, ...costs]),
});

export const gains: Benchmark = {
  title: "Hot paths before and after profiling",
  async run({ folder, before: otherCommit, ...options }) {
    const beforeCommit = otherCommit ?? unprofiledCommit;
    const root = await findEarlierVersion(folder, beforeCommit);
    if (root === null)
      return { tables: [], notes: [`Left out: git has no sources of ${beforeCommit} here.`], data: null };
    const server = await startPostgresServer();
    const receiver = await startWebhookReceiver(folder);
    const start = { folder, env: receiver.env };
    const versions = [
      await startVersion("before", { ...start, root }, server),
      await startVersion("after", start, server),
    ];
    const contenders: Contender[] = [];
    for (const path of hotPaths)
      for (const version of versions) contenders.push(await toContender(path, version, server));
    const results = await runRounds(contenders, options);
    const [before = [], after = []] = await drainByTurns(
      versions.map(({ embedded }) => embedded),
      receiver,
      options.rounds,
    );
    await Promise.all(versions.flatMap(({ embedded, onPostgres }) => [embedded.stop(), onPostgres.stop()]));
    receiver.stop();
    await server.stop();
    const [signedBefore = [], signedAfter = []] = await signByTurns([root, ownRoot], options.rounds);

    const costsOf = (name: string): Cost[] =>
      (results.get(name) ?? []).map((result) => ({
        cpuMs: cpuUsPerOperation(result) / 1000,
        perSec: ratePerSec(result),
      }));
    const paths: PathCosts[] = [
      ...hotPaths.map(({ label, costs }) => ({
        label,
        costs,
        before: costsOf(`${label}, before`),
        after: costsOf(`${label}, after`),
      })),
      { ...events, before: before.map(costOfDrain), after: after.map(costOfDrain) },
      { ...signing, before: signedBefore.map(costOfSigning), after: signedAfter.map(costOfSigning) },
    ];
    return {
      tables: [
        {
          caption:
            otherCommit === null
              ? "Before and after profiling"
              : `The sources of ${otherCommit}, and those of today`,
          columns: ["", "CPU ms before", "CPU ms after", "CPU after / before", "rate after / before"],
          rows: paths.map(toRow),
        },
        ...(otherCommit === null ? [whatProfilingFound(paths)] : []),
      ],
      charts: [
        {
          kind: "ratios",
          name: "gains",
          title: "CPU per request before / after profiling: right of 1, it costs less now",
          bars: paths.map((path) => ({
            label: path.label,
            ratio: spreadOf(path.before.map(({ cpuMs }, i) => cpuMs / (path.after[i]?.cpuMs ?? Number.NaN))),
          })),
        },
      ],
      notes: [
        "CPU is per request, and includes the database on PostgreSQL.",
        "Events and URLs count as requests. URLs are signed in the benchmark's process, without a server.",
      ],
      data: { beforeCommit, paths },
    };
  },
};
