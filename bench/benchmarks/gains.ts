import { findEarlierVersion } from "../contenders/earlier-version.ts";
import { createDatabase, type PostgresServer, startPostgresServer } from "../contenders/postgres.ts";
import { requestUpload, storeLarge } from "../contenders/stored-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import { ratePerSec } from "../harness/growth.ts";
import type { LoadResult } from "../harness/load-job.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";
import type { Target } from "../harness/scenario.ts";
import { spreadOf } from "../harness/statistics.ts";

/** The last one before hot paths were profiled. */
const beforeCommit = "5f3a83c6d1ee7fce7f896110b2366ce0aa1c8776";
const smallBytes = 10 * 1024;
const largeBytes = 100 * 1024 ** 2;

interface Version {
  name: "before" | "after";
  embedded: Upstow;
  onPostgres: Upstow;
}

interface HotPath {
  label: string;
  scenario: string;
  clients: number;
  isOnPostgres?: boolean;
  warmUpOperations?: number;
  facts?: (upstow: Upstow) => Promise<object>;
  /** The largest costs that profiling found, and what became of each; not all can go. */
  removed: [string, string, string];
}

const hotPaths: HotPath[] = [
  {
    label: "GET /projects",
    scenario: "list-projects",
    clients: 32,
    removed: [
      "reading key, account and rows for every request: recalled while nobody has changed anything",
      "locks of the database file for every read: one snapshot for each turn of the event loop",
      "hooks and facts of the route for every request: known before it, and without promises",
    ],
  },
  {
    label: "POST /upload/request",
    scenario: "request-upload",
    clients: 32,
    removed: [
      "a savepoint for each transaction of a group: only when one of them fails",
      "an index over keys and one over the log: the id in the key and the primary key do their work",
      "counters written by insert-or-update: changed in place",
    ],
  },
  {
    label: "POST /upload/request, PostgreSQL",
    scenario: "request-upload",
    clients: 32,
    isOnPostgres: true,
    removed: [
      "waiting for the row lock of the project over another's fsync: transactions of a project shared",
      "a round trip for each count of a rate window: hits of one window counted together",
      "a round trip for each lookup of a key: one answer for all who asked before it",
    ],
  },
  {
    label: "whole upload of 10 KiB",
    scenario: "upload-file",
    clients: 32,
    facts: async () => ({ sizeBytes: smallBytes }),
    removed: [
      "everything of the upload request, as above",
      "savepoints and insert-or-update in the completion, as above",
      "clocks and promises around every body: one timer for all, none where nothing is waited for",
    ],
  },
  {
    label: "GET /f/… of 10 KiB",
    scenario: "get-file",
    clients: 32,
    facts: async (upstow) => ({ paths: [await storeLarge(upstow, smallBytes)], sizeBytes: smallBytes }),
    removed: [
      "opening, reading and streaming the file: small files are sent whole",
      "putting the same answer together again: kept while its row has not changed",
      "the lookup of the row: recalled, as above",
    ],
  },
  {
    label: "GET /f/… of 100 MiB",
    scenario: "get-file",
    clients: 1,
    warmUpOperations: 10,
    facts: async (upstow) => ({ paths: [await storeLarge(upstow, largeBytes)], sizeBytes: largeBytes }),
    removed: [
      "a new buffer for every piece: two that are used by turns",
      "the garbage of these buffers: none is made",
      "pipes and listeners for every piece: written straight to the connection",
    ],
  },
  {
    label: "PUT of 100 MiB",
    scenario: "put-bytes",
    clients: 1,
    warmUpOperations: 10,
    facts: async (upstow) => ({
      paths: [(await requestUpload(upstow, largeBytes)).uploadPath],
      sizeBytes: largeBytes,
    }),
    removed: [
      "a clock for every body: one for all",
      "SHA-256: remains, and is the largest",
      "fsync and the copy from the connection: remain",
    ],
  },
];

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
    const rows = hotPaths.map(({ label, removed }) => {
      const [before = [], after = []] = ["before", "after"].map((name) => results.get(`${label}, ${name}`));
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
      notes: ["CPU is that of one request, with the database's where it is PostgreSQL."],
      data: { beforeCommit, results: Object.fromEntries(results) },
    };
  },
};
