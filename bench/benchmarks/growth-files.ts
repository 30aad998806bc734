import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeCursor } from "../../packages/server/src/http/paging.ts";
import { idOfFile, insertIntoEmbedded, insertIntoPostgres, keyOfFile } from "../contenders/many-files.ts";
import { createDatabase, type PostgresServer, startPostgresServer } from "../contenders/postgres.ts";
import { relaunch, startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatExtent, formatNumber } from "../harness/format.ts";
import { cpuUsPerOperation, type GrowthLine, toGrowth } from "../harness/growth.ts";
import { readRssBytes } from "../harness/process-usage.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const defaultSizes = [1_000, 10_000, 100_000, 1_000_000];
const clients = 4;
const laterMs = 1000;

interface Installation {
  database: "embedded database" | "PostgreSQL";
  files: number;
  upstow: Upstow;
  pids: { server: number; database?: number };
  readySec: number;
  laterMib: number;
}

const operations = [
  { label: "first page of 100", scenario: "list-files", facts: () => ({ query: "limit=100" }) },
  {
    label: "last page of 100",
    scenario: "list-files",
    facts: () => ({ query: `limit=100&cursor=${encodeCursor(idOfFile(101))}` }),
  },
  {
    label: "file by key",
    scenario: "get-metadata",
    facts: ({ files, upstow }: Installation) => ({ fileKeys: someKeys(upstow, files) }),
  },
  { label: "upload request", scenario: "request-upload", facts: () => ({}) },
];

/** Spread over all of them. */
const someKeys = ({ projectId }: Upstow, files: number) =>
  Array.from({ length: 1000 }, (_, i) => keyOfFile(projectId, 1 + Math.floor((i * files) / 1000)));

async function install(folder: string, files: number, server: PostgresServer | null): Promise<Installation> {
  const databaseUrl = server === null ? undefined : await createDatabase(server.url, `files_${files}`);
  const options = {
    folder: await mkdtemp(join(folder, "files-")),
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  };
  const first = await startUpstow(options);
  await first.stop();
  if (databaseUrl === undefined) insertIntoEmbedded(first, files);
  else await insertIntoPostgres(databaseUrl, first, files);
  const { upstow, readyMs } = await relaunch(first, options);
  await sleep(laterMs);
  return {
    database: server === null ? "embedded database" : "PostgreSQL",
    files,
    upstow,
    pids: { server: upstow.pid, ...(server === null ? {} : { database: server.pid }) },
    readySec: readyMs / 1000,
    laterMib: readRssBytes(upstow.pid) / 1024 ** 2,
  };
}

const nameOf = ({ database, files }: Installation, label: string) => `${database}, ${label}, ${files}`;

function toContenders(installation: Installation): Contender[] {
  const { upstow, pids } = installation;
  return operations.map(({ label, scenario, facts }) => ({
    name: nameOf(installation, label),
    scenario,
    target: { port: upstow.port, key: upstow.key, ...facts(installation) },
    clients,
    pids,
    warmUpOperations: 1500,
  }));
}

export const growthFiles: Benchmark = {
  title: "How cost grows with the number of files",
  async run({ folder, rounds, seconds, sizes }) {
    // There are many points to measure.
    const eachSec = seconds / 2;
    const amounts = sizes ?? defaultSizes;
    const server = await startPostgresServer();
    const all: Installation[] = [];
    for (const files of amounts) {
      process.stderr.write(`  ${files.toLocaleString("en")} files\n`);
      all.push(await install(folder, files, null), await install(folder, files, server));
    }
    const results = await runRounds(all.flatMap(toContenders), { rounds, seconds: eachSec });
    await Promise.all(all.map(({ upstow }) => upstow.stop()));
    await server.stop();
    const xTicks = amounts.map((files) => files.toLocaleString("en"));
    const views = (["embedded database", "PostgreSQL"] as const).map((database) => {
      const installations = all.filter((installation) => installation.database === database);
      const lines: GrowthLine[] = operations.map(({ label }) => ({
        label,
        steps: installations.map((installation) => results.get(nameOf(installation, label)) ?? []),
      }));
      const name = `growth-files-${database === "PostgreSQL" ? "postgres" : "embedded"}`;
      const title = `Cost by number of files, ${database}`;
      const yLabel = database === "PostgreSQL" ? "CPU µs/request, database included" : "CPU µs/request";
      const view = { name, title, xLabel: "files", xTicks, yLabel, value: cpuUsPerOperation };
      return toGrowth(view, lines);
    });
    return {
      tables: [...views.map(({ table }) => table), startTable(all, amounts)],
      charts: views.map(({ chart }) => chart),
      extent: formatExtent(rounds, eachSec),
      notes: [`${clients} clients. All installations run throughout; rounds alternate between them.`],
      data: {
        installations: all.map(({ database, files, readySec, laterMib }) => ({
          database,
          files,
          readySec,
          laterMib,
        })),
        results: Object.fromEntries(results),
      },
    };
  },
};

function startTable(all: readonly Installation[], amounts: readonly number[]) {
  const row = (label: string, database: string, part: "readySec" | "laterMib") => [
    `${label}, ${database}`,
    ...amounts.map((files) => {
      const found = all.find((one) => one.database === database && one.files === files);
      return formatNumber(found?.[part] ?? Number.NaN);
    }),
  ];
  return {
    caption: "A start with that many files",
    columns: ["files", ...amounts.map((files) => files.toLocaleString("en"))],
    rows: ["embedded database", "PostgreSQL"].flatMap((database) => [
      row("ready after, s", database, "readySec"),
      row("memory (RSS) a second later, MiB", database, "laterMib"),
    ]),
  };
}
