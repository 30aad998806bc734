// How PostgreSQL bears many files: fills it in steps and times the service's own statements at each.
//   node bench/capacity.ts [--rows 10000,1000000,10000000] [--no-save]
import { readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import postgres from "postgres";
import { openPostgres } from "../packages/server/src/adapters/postgres.ts";
import type { Database } from "../packages/server/src/db/database.ts";
import { migrate } from "../packages/server/src/db/migrate.ts";
import type { Statement } from "../packages/server/src/db/statement.ts";
import { findServedFile } from "../packages/server/src/features/delivery/queries.ts";
import { deleteFiles, findFile, listFiles } from "../packages/server/src/features/files/queries.ts";
import { insertFile, listAbandoned, markFailed } from "../packages/server/src/features/uploads/queries.ts";
import { startPostgres } from "../test/support/postgres.ts";
import { formatNumber } from "./harness/format.ts";
import { toMarkdown, toText } from "./harness/report.ts";

const docsPage = fileURLToPath(new URL("../docs/capacity.md", import.meta.url));
const runs = 200;
const gib = 1024 ** 3;
/** The first holds half of all files, the others share the rest. */
const projects = 100;
const openShare = 1000;
const environment = "live" as const;
const bigProject = "p000000000000000000000000";

type Sql = ReturnType<typeof postgres>;

async function createProjects(sql: Sql): Promise<void> {
  await sql`INSERT INTO account (id, email, tier, created_at, updated_at) VALUES ('a', 'a@example.com', 'enterprise', 0, 0)`;
  await sql`INSERT INTO project (id, account_id, name, slug, created_at, updated_at)
    SELECT 'p' || lpad(cast(i as text), 24, '0'), 'a', 'p', 'p' || i, 0, 0 FROM generate_series(0, ${projects - 1}) i`;
}

/** One in a thousand is an upload that is open; ids grow with time, as the service's do. Indexes are made after. */
async function addFiles(sql: Sql, from: number, to: number): Promise<void> {
  await sql`SET maintenance_work_mem = '1GB'`;
  await sql`SET synchronous_commit = off`;
  const indexes = await sql<{ name: string; definition: string }[]>`
    SELECT indexname AS name, indexdef AS definition FROM pg_indexes
    WHERE tablename = 'file' AND indexname <> 'file_pkey'`;
  for (const { name } of indexes) await sql`DROP INDEX ${sql(name)}`;
  await sql`INSERT INTO file (id, key, project_id, environment, route_slug, name, size_bytes, type, status, metadata,
      sha256, etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)
    SELECT lpad(to_hex(i), 26, '0'), project || '/default/' || lpad(to_hex(i), 26, '0') || '/photo.jpg', project, 'live',
      'default', 'photo.jpg', 1000, 'image/jpeg', CASE WHEN is_open THEN 'UPLOADING' ELSE 'UPLOADED' END, '{}',
      CASE WHEN is_open THEN null ELSE md5(cast(i as text)) || md5(cast(-i as text)) END,
      CASE WHEN is_open THEN null ELSE md5(cast(i as text)) END, 's3', null,
      CASE WHEN is_open THEN '2026-11' END, 1000 + i, i, i, CASE WHEN is_open THEN null ELSE i END
    FROM (SELECT i, i % ${openShare} = 1 AS is_open, 'p' || lpad(cast(CASE WHEN i % 2 = 0 THEN 0
      ELSE 1 + (i / 2) % ${projects - 1} END as text), 24, '0') AS project
      FROM generate_series(cast(${from} as bigint), cast(${to} as bigint)) i) rows`;
  for (const { definition } of indexes) await sql.unsafe(definition);
  await sql`VACUUM ANALYZE file`;
  await sql`CHECKPOINT`;
}

const idOf = (i: number) => i.toString(16).padStart(26, "0");
const nameOf = (i: number) => ({ id: idOf(i), key: keyOf(i) });
const keyOf = (i: number) => `${bigProject}/default/${idOf(i)}/photo.jpg`;

interface Measurement {
  name: string;
  statement: Pick<Statement<object, unknown>, "compile">;
  params: () => object;
}

/** What each step is measured by, on files anywhere in the largest project. */
function createMeasurements(rows: number): Measurement[] {
  const scope = { projectId: bigProject, environment };
  const some = () => 2 * Math.floor(Math.random() * (rows / 2 - 200)) + 2;
  let next = rows + 1;
  const hundred = () => {
    const first = some();
    const files = Array.from({ length: 100 }, (_, i) => nameOf(first + 2 * i));
    return {
      ...scope,
      idsJson: JSON.stringify(files.map(({ id }) => id)),
      keysJson: JSON.stringify(files.map(({ key }) => key)),
      now: 1,
    };
  };
  const page = (before: () => string) => () => ({ ...scope, before: before(), take: 100 });
  return [
    { name: "first page of a list (100)", statement: listFiles, params: page(() => "~") },
    { name: "page deep in a list (100)", statement: listFiles, params: page(() => idOf(some())) },
    { name: "file by key", statement: findFile, params: () => ({ ...scope, ...nameOf(some()) }) },
    { name: "file to deliver", statement: findServedFile, params: () => nameOf(some()) },
    { name: "new upload", statement: insertFile, params: () => newFile(next++) },
    { name: "deletion of 100 files", statement: deleteFiles, params: hundred },
    {
      name: "look for 100 abandoned uploads",
      statement: listAbandoned,
      params: () => ({ now: 2 ** 52, take: 100 }),
    },
    {
      name: "end of an abandoned upload",
      statement: markFailed,
      params: () => ({ id: idOf(next - 2), now: 2 ** 52 }),
    },
  ];
}

function newFile(i: number) {
  const shared = {
    environment,
    route_slug: "default",
    name: "photo.jpg",
    size_bytes: 1000,
    type: "image/jpeg",
  };
  const open = {
    status: "UPLOADING",
    sha256: null,
    etag: null,
    upload_id: null,
    completed_at: null,
  } as const;
  const times = { reap_at: i, created_at: i, updated_at: i, reserved_period: "2026-11" };
  const names = { id: idOf(i), key: keyOf(i), project_id: bigProject, store: "s3", metadata: "{}" };
  return { ...shared, ...open, ...times, ...names };
}

async function medianMs(db: Database, { statement, params }: Measurement): Promise<number> {
  const taken: number[] = [];
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now();
    await db.change(statement, params());
    taken.push(performance.now() - startedAt);
  }
  return taken.sort((a, b) => a - b)[runs / 2] ?? Number.NaN;
}

/** Of 8 KiB each, from memory or disk: unlike the time, this does not depend on what else the machine does. */
async function countPages(sql: Sql, { statement, params }: Measurement): Promise<number> {
  const { sql: text, bind } = statement.compile("postgres");
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
  const [row] = await sql.unsafe(explain, bind(params()) as never[]);
  const plan = row?.["QUERY PLAN"][0].Plan;
  return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
}

async function measureSizes(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    SELECT relname AS name, cast(pg_relation_size(oid) as float8) AS bytes FROM pg_class
    WHERE relname IN ('file', 'file_pkey', 'file_listing', 'file_open')`;
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes / gib]));
}

const { values } = parseArgs({
  allowNegative: true,
  options: {
    rows: { type: "string", default: "10000,1000000,10000000" },
    save: { type: "boolean", default: true },
  },
});
const steps = values.rows.split(",").map(Number);
const cluster = await startPostgres();
const db = openPostgres(cluster.url, { maxConnections: 1 });
const sql = postgres(cluster.url, { max: 1, onnotice: () => {} });
const times = new Map<string, number[]>();
const pages = new Map<string, number[]>();
const sizes: Record<string, number>[] = [];
try {
  await migrate(db);
  await createProjects(sql);
  let filled = 0;
  for (const rows of steps) {
    await addFiles(sql, filled + 1, rows);
    // What is added while measuring stays between this step and the next.
    filled = rows + 10 * runs;
    for (const measurement of createMeasurements(rows)) {
      const { name } = measurement;
      times.set(name, [...(times.get(name) ?? []), await medianMs(db, measurement)]);
      pages.set(name, [...(pages.get(name) ?? []), await countPages(sql, measurement)]);
    }
    sizes.push(await measureSizes(sql));
    // After each step: the last one takes the longest, and a run that is cut short has something to show.
    show(steps.slice(0, sizes.length));
  }
} finally {
  await db.close();
  await sql.end();
  await cluster.stop();
}

function show(done: number[]): void {
  const head = done.map((rows) => rows.toLocaleString("en"));
  const report = {
    tables: [
      {
        caption: "Pages of 8 KiB that a statement of the service touches, by rows in the table",
        columns: ["", ...head],
        rows: [...pages].map(([name, all]) => [name, ...all.map(String)]),
      },
      {
        caption: `Median time of the same statements, ms (${runs} runs each)`,
        columns: ["", ...head],
        rows: [...times].map(([name, all]) => [name, ...all.map(formatNumber)]),
      },
      {
        caption: "Size of the table and its indexes, GiB",
        columns: ["", ...head],
        rows: ["file", "file_pkey", "file_listing", "file_open"].map((name) => [
          `\`${name}\``,
          ...sizes.map((all) => formatNumber(all[name] ?? Number.NaN)),
        ]),
      },
    ],
    notes: [],
    data: null,
  };
  console.log(toText(report));
  if (values.save) save(toMarkdown(report));
}

function save(tables: string): void {
  const [begin, end] = ["<!-- capacity -->", "<!-- /capacity -->"];
  const page = readFileSync(docsPage, "utf8");
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/capacity.md lacks ${begin} … ${end}`);
  const machine = `${platform()} ${arch()}, ${cpus().length} cores, ${Math.round(totalmem() / gib)} GiB, PostgreSQL 18 with its default settings and fsync on`;
  const origin = `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}. \`node bench/capacity.ts\``;
  writeFileSync(docsPage, `${before}${begin}\n\n${tables}\n\n${origin}\n\n${end}${after}`);
}
