import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../packages/server/src/db/database.ts";
import { migrate } from "../../packages/server/src/db/migrate.ts";
import { openPostgres } from "../../packages/server/src/db/postgres/postgres.ts";
import { openSqlite } from "../../packages/server/src/db/sqlite/sqlite.ts";
import { startPostgresServer } from "../contenders/postgres.ts";
import {
  compiledSide,
  handWrittenPostgres,
  handWrittenSqlite,
  projectId,
  type Side,
} from "../contenders/statement-sides.ts";
import { formatNumber, formatShare } from "../harness/format.ts";
import type { Benchmark, Table } from "../harness/report.ts";
import type { RoundOptions } from "../harness/rounds.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";

const fileCount = 10_000;
const maxConnections = 10;
const target = 1.1;
const turns = 10;
const warmUpCalls = 5000;
const mostWarmUps = 25;

const queries = [
  { label: "file by key", operation: "lookup" },
  { label: "list of 100", operation: "list" },
  { label: "insert in a transaction", operation: "insert" },
] as const;
const callers = [1, 32];

interface Cost {
  calls: number;
  elapsedUs: number;
  cpuUs: number;
}

interface Comparison {
  label: string;
  byHand: Cost[];
  compiled: Cost[];
}

interface Work {
  operation: keyof Side;
  /** Callers in each turn of the event loop, as requests arrive. */
  atOnce: number;
}

let next = fileCount;

async function callFor(seconds: number, side: Side, { operation, atOnce }: Work): Promise<Cost> {
  const call =
    operation === "insert"
      ? () => side.insert(++next)
      : () => side[operation]((next++ % (fileCount - 200)) + 1);
  const startMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let calls = 0;
  while (performance.now() - startMs < seconds * 1000) {
    await Promise.all(Array.from({ length: atOnce }, call));
    await nextTurn();
    calls += atOnce;
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return { calls, elapsedUs: (performance.now() - startMs) * 1000, cpuUs: user + system };
}

/** By turns of a fraction of a second, so that whatever else the machine does meets both alike. */
async function runRound(sides: readonly Side[], work: Work, seconds: number): Promise<Cost[]> {
  const sums = sides.map(() => ({ calls: 0, elapsedUs: 0, cpuUs: 0 }));
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, sum] of sums.entries()) {
      const side = sides[i];
      if (side === undefined) continue;
      const cost = await callFor(seconds / turns, side, work);
      sum.calls += cost.calls;
      sum.elapsedUs += cost.elapsedUs;
      sum.cpuUs += cost.cpuUs;
    }
  }
  return sums.map(({ calls, elapsedUs, cpuUs }) => ({
    calls,
    elapsedUs: elapsedUs / calls,
    cpuUs: cpuUs / calls,
  }));
}

/** V8 goes on optimising for thousands of calls. */
async function warmUp(sides: readonly Side[], work: Work): Promise<void> {
  for (const side of sides) {
    let calls = 0;
    for (let i = 0; calls < warmUpCalls && i < mostWarmUps; i++)
      calls += (await callFor(0.2, side, work)).calls;
  }
}

async function compareSides(byHand: Side, compiled: Side, { rounds, seconds }: RoundOptions) {
  await checkSameRows(byHand, compiled);
  const comparisons: Comparison[] = [];
  for (const { label, operation } of queries) {
    for (const atOnce of callers) {
      const work = { operation, atOnce };
      const comparison: Comparison = { label: `${label}, ${atOnce} at a time`, byHand: [], compiled: [] };
      process.stderr.write(`  ${comparison.label} …`);
      await warmUp([byHand, compiled], work);
      for (let round = 0; round < rounds; round++) {
        const [one, other] = await runRound([byHand, compiled], work, seconds / 2);
        if (one !== undefined) comparison.byHand.push(one);
        if (other !== undefined) comparison.compiled.push(other);
      }
      process.stderr.write(` CPU ${formatShare(besideByHand(comparison, "cpuUs"))}\n`);
      comparisons.push(comparison);
    }
  }
  return comparisons;
}

async function checkSameRows(byHand: Side, compiled: Side): Promise<void> {
  for (const operation of ["lookup", "list"] as const) {
    const [one, other] = [await byHand[operation](1000), await compiled[operation](1000)].map(plain);
    if (!isDeepStrictEqual(one, other)) throw new Error(`${operation} does not find the same rows`);
  }
}

/** Engines differ in the class of their rows, and some give lists of their own. */
const plain = (rows: unknown) => JSON.parse(JSON.stringify(rows));

async function fill(db: Database): Promise<void> {
  const series =
    db.dialect === "sqlite"
      ? `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${fileCount})`
      : `WITH n (i) AS (SELECT generate_series(1, ${fileCount}))`;
  const id = db.dialect === "sqlite" ? "printf('%026d', i)" : "lpad(cast(i as text), 26, '0')";
  await db.migrate(async (tx) => {
    await tx.script(`
      INSERT INTO account (id, email, tier, created_at, updated_at) VALUES ('a', 'a@example.com', 'enterprise', 0, 0);
      INSERT INTO project (id, account_id, name, slug, created_at, updated_at)
        VALUES ('${projectId}', 'a', 'p', 'p', 0, 0);
      ${series} INSERT INTO file (id, key, project_id, environment, route_slug, name, size_bytes, type, status,
        metadata, sha256, etag, store, upload_id, reserved_period, reap_at, created_at, updated_at, completed_at)
        SELECT ${id}, '${projectId}/default/' || ${id} || '/photo.bin', '${projectId}', 'live', 'default', 'photo.bin',
        10240, 'application/octet-stream', 'UPLOADED', '{}', NULL, 'e', 'disk', NULL, NULL, 0, 1, 1, 1 FROM n;
      ANALYZE;`);
  });
}

async function onSqlite(folder: string, options: RoundOptions): Promise<Comparison[]> {
  const path = join(folder, "statements.db");
  const db = openSqlite(path);
  await migrate(db);
  await fill(db);
  const byHand = handWrittenSqlite(path);
  const comparisons = await compareSides(byHand, compiledSide(db), options);
  byHand.close();
  await db.close();
  return comparisons;
}

async function onPostgres(options: RoundOptions): Promise<Comparison[]> {
  const cluster = await startPostgresServer();
  const db = openPostgres(cluster.url, { maxConnections });
  await migrate(db);
  await fill(db);
  const byHand = handWrittenPostgres(cluster.url, maxConnections);
  const comparisons = await compareSides(byHand, compiledSide(db), options);
  await byHand.close();
  await db.close();
  await cluster.stop();
  return comparisons;
}

function besideByHand({ byHand, compiled }: Comparison, part: "elapsedUs" | "cpuUs"): Spread {
  return spreadOf(compiled.map((cost, i) => cost[part] / (byHand[i]?.[part] ?? Number.NaN)));
}

function toTable(caption: string, comparisons: Comparison[]): Table {
  const rows = comparisons.map((comparison) => {
    const { label, byHand, compiled } = comparison;
    const middle = (costs: Cost[], part: "elapsedUs" | "cpuUs") =>
      formatNumber(spreadOf(costs.map((cost) => cost[part])).median);
    const both = (costs: Cost[]) => `${middle(costs, "elapsedUs")} / ${middle(costs, "cpuUs")}`;
    const [time, cpu] = [besideByHand(comparison, "elapsedUs"), besideByHand(comparison, "cpuUs")];
    const isMet = time.median <= target && cpu.median <= target;
    return [
      label,
      both(byHand),
      both(compiled),
      formatShare(time),
      formatShare(cpu),
      `≤ ${target} ${isMet ? "✔" : "✘"}`,
    ];
  });
  const columns = [
    "",
    "by hand, µs / CPU µs",
    "compiled, µs / CPU µs",
    "time beside by hand",
    "CPU beside by hand",
    "target",
  ];
  return { caption, columns, rows };
}

export const statements: Benchmark = {
  title: "The service's statements beside the same SQL written by hand",
  async run({ folder, ...options }) {
    const sqlite = await onSqlite(folder, options);
    const postgres = await onPostgres(options);
    return {
      tables: [
        toTable("Embedded database, beside prepared statements of node:sqlite", sqlite),
        toTable("PostgreSQL, beside prepared statements of pg", postgres),
      ],
      notes: [
        "Time and CPU are per call, in the calling process; lower is better. Both return the same rows.",
        "By hand, every insert is a transaction with its own fsync; the service shares one among concurrent callers. A single insert costs more because the service waits one turn of the event loop for others.",
      ],
      data: { sqlite, postgres },
    };
  },
};
