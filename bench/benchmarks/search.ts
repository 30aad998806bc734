import { openConsole } from "../contenders/console-session.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import { insertSearchable, insertSearchableInto } from "../contenders/searchable-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatBelow, formatNumber } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { timeRequests } from "../harness/time-requests.ts";

const fileCount = 100_000;
const repeats = 10;
const targetMs = 300;

/** Nothing matches, so that every file is looked at: the slowest answer that each kind of search can give. */
const searches = [
  { label: "name", query: "name=nothing-like-it" },
  { label: "status", query: "status=FAILED" },
  { label: "metadata, any text", query: "metadata=nothing-like-it" },
  { label: "metadata, name=value", query: "metadata=album%3Dnone" },
  {
    label: "name, type, route and metadata",
    query: "name=upload&type=image/&routeSlug=photos&metadata=none",
  },
];

interface Server {
  label: string;
  upstow: Upstow;
  pids: number[];
}

async function measure({ label, upstow, pids }: Server) {
  const ask = await openConsole(upstow);
  const results = [];
  for (const { label: what, query } of searches) {
    const path = `/in/${upstow.projectId}/live/search?limit=100&${query}`;
    const send = async () => {
      const response = await ask(path);
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      const { files } = (await response.json()) as { files: unknown[] };
      if (files.length > 0) throw new Error(`${query} found something`);
    };
    const measured = await timeRequests(pids, { warmUps: 1, repeats }, send);
    results.push({ label, what, ...measured });
  }
  return results;
}

export const search: Benchmark = {
  title: `Searching ${fileCount.toLocaleString("en-US")} files in the dashboard, where nothing matches`,
  async run({ folder }) {
    const embedded = await startUpstow({ folder });
    insertSearchable(embedded, fileCount);
    const database = await startPostgresServer();
    const onPostgres = await startUpstow({ folder, databaseUrl: database.url });
    await insertSearchableInto(database.url, onPostgres, fileCount);
    const servers: Server[] = [
      { label: "embedded database", upstow: embedded, pids: [embedded.pid] },
      { label: "PostgreSQL", upstow: onPostgres, pids: [onPostgres.pid, database.pid] },
    ];
    const results = [];
    for (const server of servers) results.push(...(await measure(server)));
    await Promise.all(servers.map(({ upstow }) => upstow.stop()));
    await database.stop();
    return {
      tables: [
        {
          caption: "GET /search, one at a time, milliseconds",
          columns: ["", "searched by", "median", "spread", "CPU", "target"],
          rows: results.map(({ label, what, times, cpuMs }) => [
            label,
            what,
            formatNumber(times.median),
            `${formatNumber(times.least)}–${formatNumber(times.most)}`,
            formatNumber(cpuMs),
            formatBelow(targetMs, times.median, "ms"),
          ]),
        },
      ],
      notes: ["A search stops as soon as it has found a page of files."],
      data: results,
    };
  },
};
