import type { Database } from "../../packages/server/src/db/database.ts";
import type { Statement } from "../../packages/server/src/db/statement.ts";
import { deleteFileRows, findFile, listFileRows } from "../../packages/server/src/files/queries.ts";
import { insertFile, listAbandoned, markFailed } from "../../packages/server/src/files/uploads/queries.ts";
import { listFilesToCheck, pageSize } from "../../packages/server/src/ops/verify/check-files.ts";
import { findServedFile } from "../../packages/server/src/serving/queries.ts";
import { createFile } from "../../packages/server/test/support/webhooks/queue.ts";
import { spreadOf } from "../harness/statistics.ts";
import { bigProject, findNewest, idOf, keyOf, type Sql } from "./files.ts";

const countedRuns = 5;
const timedRuns = 200;
/** Each leaves 100 dead rows behind, which must not outweigh the living in the smallest table. */
const timedDeletions = 25;
const environment = "live" as const;
const deletion = "deletion of 100 files";
const farFuture = 2 ** 52;

interface Measurement {
  name: string;
  statement: Pick<Statement<object, unknown>, "compile">;
  params: () => object;
  /** How many rows a run has to find or change. */
  rows: number;
  runs: number;
}

export interface Step {
  rows: number;
  pages: Record<string, number>;
  medianMs: Record<string, number>;
  sizesGib: Record<string, number>;
}

/** For the types of its parameters: the service's statements change. */
function measure<Params extends object>(
  name: string,
  statement: Statement<Params, unknown>,
  params: () => Params,
  rows: number,
): Measurement {
  return { name, statement, params, rows, runs: name === deletion ? timedDeletions : timedRuns };
}

/** What each step is measured by, on files anywhere in the largest project. */
function createMeasurements(rows: number, newest: number): Measurement[] {
  const scope = { projectId: bigProject, environment, now: 1 };
  const some = () => 2 * Math.floor(Math.random() * (rows / 2 - 200)) + 2;
  const named = (i: number) => ({ id: idOf(i), key: keyOf(i) });
  let [begun, ended] = [newest, newest];
  const hundred = () => {
    const first = some();
    const files = Array.from({ length: 100 }, (_, i) => named(first + 2 * i));
    const idsJson = JSON.stringify(files.map(({ id }) => id));
    const namesJson = JSON.stringify(files.map(({ key }) => key));
    return { ...scope, idsJson, namesJson };
  };
  const page = (before: () => string) => () => ({ ...scope, before: before(), take: 100 });
  return [
    measure(
      "first page of a list (100)",
      listFileRows,
      page(() => "~"),
      100,
    ),
    measure(
      "page in the middle (100)",
      listFileRows,
      page(() => idOf(some() + 200)),
      100,
    ),
    measure(
      "last page (100)",
      listFileRows,
      page(() => idOf(202)),
      100,
    ),
    measure("file by key", findFile, () => ({ ...scope, ...named(some()) }), 1),
    measure("file to deliver", findServedFile, () => named(some()), 1),
    measure(
      `step of a check (${pageSize})`,
      listFilesToCheck,
      () => ({ after: idOf(some()), take: pageSize }),
      pageSize,
    ),
    measure("new upload", insertFile, () => newFile(++begun), 1),
    measure(deletion, deleteFileRows, hundred, 100),
    measure("look for 100 abandoned uploads", listAbandoned, () => ({ now: farFuture, take: 100 }), 100),
    measure("end of an abandoned upload", markFailed, () => ({ id: idOf(++ended), now: farFuture }), 1),
  ];
}

function newFile(i: number) {
  return { ...createFile(bigProject, environment), id: idOf(i), key: keyOf(i), reap_at: i };
}

export async function measureStep(db: Database, sql: Sql, rows: number): Promise<Step> {
  const step: Step = { rows, pages: {}, medianMs: {}, sizesGib: await measureSizes(sql) };
  for (const measurement of createMeasurements(rows, await findNewest(sql))) {
    const { name } = measurement;
    step.medianMs[name] = await medianMs(db, measurement);
    step.pages[name] = await countPages(sql, measurement);
  }
  return step;
}

const returnsNothing: unknown[] = [insertFile, markFailed];

/** What changes files is undone, so that every run meets the same ones in the same places; a commit is not timed. */
async function medianMs(db: Database, measurement: Measurement): Promise<number> {
  const { name, statement, params, rows, runs } = measurement;
  const taken: number[] = [];
  for (let run = 0; run < runs; run++) {
    const given = params();
    await undone((stop) =>
      db.transact(async (tx) => {
        const startedMs = performance.now();
        const count = returnsNothing.includes(statement)
          ? await tx.run(statement, given)
          : (await tx.all(statement, given)).length;
        taken.push(performance.now() - startedMs);
        if (count !== rows) throw new Error(`${name}: ${count} rows, not ${rows}`);
        if (name === deletion) stop();
      }),
    );
  }
  return spreadOf(taken).median;
}

/** Of 8 KiB each, from memory or disk: unlike the time, this does not depend on what else the machine does. */
async function countPages(sql: Sql, { name, statement, params }: Measurement): Promise<number> {
  const { sql: text, bind } = statement.compile("postgres");
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
  const counts: number[] = [];
  for (let run = 0; run < countedRuns; run++) {
    await undone((stop) =>
      sql.begin(async (tx) => {
        const [row] = await tx.unsafe(explain, bind(params()) as never[]);
        const plan = row?.["QUERY PLAN"][0].Plan;
        counts.push(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]);
        if (name === deletion) stop();
      }),
    );
  }
  return spreadOf(counts).median;
}

class Undone extends Error {}

/** `stop` ends the transaction without its changes. */
async function undone(work: (stop: () => never) => Promise<unknown>): Promise<void> {
  try {
    await work(() => {
      throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
}

async function measureSizes(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    SELECT relname AS name, cast(pg_relation_size(oid) + coalesce(
      (SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(oid) WHERE isleaf), 0) as float8) AS bytes FROM pg_class
    WHERE relname IN ('file', 'file_pkey', 'file_listing', 'file_open')`;
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes / 1024 ** 3]));
}
