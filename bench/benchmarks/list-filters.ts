import { startPostgresServer } from "../contenders/postgres.ts";
import { insertSearchable, insertSearchableInto, nearMisses } from "../contenders/searchable-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { formatBelow, formatNumber } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { timeRequests } from "../harness/time-requests.ts";

const defaultCount = 1_000_000;
/** More than one call reads. */
const nearCount = 21_000;
const repeats = 40;
const targetMs = 50;

interface Filter {
  label: string;
  query: string;
  /** How many files the first page has. */
  found: 0 | 100;
}

const usual: Filter[] = [
  { label: "no filter", query: "", found: 100 },
  { label: "include=metadata", query: "include=metadata", found: 100 },
  { label: "include=image", query: "include=image", found: 100 },
  { label: "access, all match", query: "access=public", found: 100 },
  { label: "status, all match", query: "status=UPLOADED", found: 100 },
  { label: "type, all match", query: "type=image/*", found: 100 },
  { label: "name, 1 in 10", query: "name=7.jpg", found: 100 },
  { label: "metadata, 1 in 31", query: "metadata.album=album-7", found: 100 },
  { label: "status=FAILED, none", query: "status=FAILED", found: 0 },
  { label: "status=UPLOADING, none", query: "status=UPLOADING", found: 0 },
  { label: "status=DELETED, none", query: "status=DELETED", found: 0 },
  { label: "access, none", query: "access=private", found: 0 },
  { label: "type, none", query: "type=video/mp4", found: 0 },
  { label: "routeSlug, none", query: "routeSlug=none", found: 0 },
  { label: "name, none", query: "name=nothing-like-it", found: 0 },
  { label: "name beyond ASCII, none", query: `name=${encodeURIComponent("été")}`, found: 0 },
  { label: "prefix, none", query: "prefix=none/", found: 0 },
  {
    label: "since and until, none",
    query: "since=2030-01-01T00:00:00Z&until=2031-01-01T00:00:00Z",
    found: 0,
  },
  { label: "metadata, none", query: "metadata.album=none", found: 0 },
  { label: "metadata number, none", query: "metadata.index=-1", found: 0 },
  {
    label: "everything, none",
    query:
      "status=UPLOADED&access=public&type=image/jpeg&routeSlug=photos&name=upload&prefix=photos/&metadata.userId=none",
    found: 0,
  },
];
const long = (letter: string, count: number, end: string) => encodeURIComponent(letter.repeat(count) + end);
const hostile: Filter[] = [
  { label: "include=metadata", query: "include=metadata", found: 100 },
  { label: "status=UPLOADING", query: "status=UPLOADING", found: 0 },
  { label: "access=private", query: "access=private", found: 0 },
  { label: "name", query: `name=${long("a", 100, "b")}`, found: 0 },
  { label: "name beyond ASCII", query: `name=${long("é", 50, "b")}`, found: 0 },
  { label: "metadata", query: "metadata.k=vv", found: 0 },
  { label: "metadata and name", query: `metadata.k=vv&name=${long("é", 100, "a")}`, found: 0 },
];

interface Server {
  label: string;
  upstow: Upstow;
  pids: number[];
  add(count: number, texts?: typeof nearMisses): Promise<void> | void;
}

async function measure({ label, upstow, pids }: Server, filters: Filter[]) {
  const results = [];
  for (const { label: what, query, found } of filters) {
    const url = `${upstow.url}/api/v1/files?limit=100&${query}`;
    const send = async () => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${upstow.key}` } });
      if (!response.ok) throw new Error(`${query} answered ${response.status}: ${await response.text()}`);
      const { files } = (await response.json()) as { files: unknown[] };
      if (files.length !== found) throw new Error(`${query} found ${files.length} files`);
    };
    const measured = await timeRequests(pids, { warmUps: 8, repeats }, send);
    results.push({ label, what, ...measured });
  }
  return results;
}

type Measured = Awaited<ReturnType<typeof measure>>;

function toTable(caption: string, results: Measured) {
  return {
    caption,
    columns: ["", "filter", "median", "spread", "CPU", "target"],
    rows: results.map(({ label, what, times, cpuMs }) => [
      label,
      what,
      formatNumber(times.median),
      `${formatNumber(times.least)}–${formatNumber(times.most)}`,
      formatNumber(cpuMs),
      formatBelow(targetMs, cpuMs, "ms"),
    ]),
  };
}

export const listFilters: Benchmark = {
  title: `The first page of ${defaultCount.toLocaleString("en-US")} files, by filter`,
  async run({ folder, sizes }) {
    const fileCount = sizes?.[0] ?? defaultCount;
    const embedded = await startUpstow({ folder });
    const database = await startPostgresServer();
    const onPostgres = await startUpstow({ folder, databaseUrl: database.url });
    const servers: Server[] = [
      {
        label: "embedded database",
        upstow: embedded,
        pids: [embedded.pid],
        add: (count, texts) => insertSearchable(embedded, count, texts),
      },
      {
        label: "PostgreSQL",
        upstow: onPostgres,
        pids: [onPostgres.pid, database.pid],
        add: (count, texts) => insertSearchableInto(database.url, onPostgres, count, texts),
      },
    ];
    const [first, worst]: [Measured, Measured] = [[], []];
    for (const server of servers) {
      await server.add(fileCount);
      first.push(...(await measure(server, usual)));
      await server.add(nearCount, nearMisses);
      worst.push(...(await measure(server, hostile)));
    }
    await Promise.all(servers.map(({ upstow }) => upstow.stop()));
    await database.stop();
    return {
      tables: [
        toTable("GET /files, one call at a time, milliseconds", first),
        toTable(
          `The same where the newest ${nearCount.toLocaleString("en-US")} files were made to be slow`,
          worst,
        ),
      ],
      notes: [
        "If nothing matches, a call returns an empty page with a cursor after it has read its limit of files.",
        "The slow files have names of 255 characters and 16 KiB of metadata that almost match in many places.",
        "CPU is that of the service, and on PostgreSQL also of the database.",
      ],
      extent: `${repeats} calls each`,
      data: { first, worst },
    };
  },
};
