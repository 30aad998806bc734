import type { Database } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import type { RelocationRow } from "../../../db/schema.ts";
import { tableNames } from "../../../db/table-names.ts";
import { enterReadOnly, findRelocation, leaveReadOnly, listReasons } from "../../../http/read-only.ts";
import type { Author } from "../../../kernel/actor.ts";
import { AppError } from "../../../kernel/errors.ts";
import {
  changeState,
  getInstallationId,
  putRelocation,
  recordMove,
  setState,
  startMove,
} from "../queries.ts";
import { compareTable, copyTable, type TableDigest } from "./copy-table.ts";
import { type CopyPlan, countRows, describeTable, planCopy, raw, type TableShape } from "./table-shape.ts";

export interface MoveDatabaseDeps {
  /** The embedded database, possibly in use by a service. */
  source: Database;
  /** PostgreSQL, not migrated. */
  target: Database;
  /** Describes the target, without credentials. */
  description: string;
  now: () => number;
  author: Author;
  onProgress: (progress: { step: "copy" | "compare"; done: number; total: number }) => void;
  onReadOnly: () => void;
}

export interface MoveDatabaseReport {
  target: string;
  tables: ({ name: string } & TableDigest)[];
  leftOut: CopyPlan["leftOut"];
  /** The new database will be used with the bucket that the files were copied to. */
  isInBucket: boolean;
}

/**
 * Copies every row to PostgreSQL while the source is read-only, and compares both from end to end. It can be killed at
 * any time and run again. The source stays read-only permanently, so that never two databases accept changes.
 */
export async function moveDatabase(deps: MoveDatabaseDeps): Promise<MoveDatabaseReport> {
  const { source, target, description, now } = deps;
  const installation = await getInstallationId(source);
  const storage = await source.get(findRelocation, { name: "storage" });
  if (storage?.state === "switching") throw halfSwitched();
  const begunThere = await prepareTarget(target, installation, description);
  if (begunThere?.state === "done") throw inUse(description);
  const begunHere = await source.get(findRelocation, { name: "database" });
  const isResumed = begunHere !== null && begunHere.state !== "abandoned";
  if (isResumed && begunHere.target !== description) throw otherTarget(begunHere);

  const startedAt = isResumed ? begunHere.started_at : now();
  const begun = { name: "database", installation, target: description, started_at: startedAt } as const;
  const isInBucket = storage?.state === "copied";
  const plan = planCopy(isInBucket);
  if (!isResumed) await startMove(source, deps.author, { ...begun, state: "copying", changed_at: now() });
  await enterReadOnly(source, "database", now());
  deps.onReadOnly();
  // Rows copied by an earlier, cancelled attempt are out of date.
  if (begunThere !== null && begunThere.started_at !== startedAt) await clear(target);
  if (begunThere?.started_at !== startedAt)
    await target.run(putRelocation, { ...begun, state: "copying", changed_at: now() });

  const shapes: TableShape[] = [];
  for (const table of plan.tables) shapes.push(await describeTable(source, table));
  await copyAll(deps, plan, shapes);
  const tables = await compareAll(deps, plan, shapes);

  await target.transact(async (tx) => {
    if (storage !== null) await tx.run(putRelocation, isInBucket ? { ...storage, state: "done" } : storage);
    await tx.run(putRelocation, { ...begun, state: "copied", changed_at: now() });
  });
  await source.run(setState, { name: "database", state: "copied", now: now() });
  return { target: description, tables, leftOut: plan.leftOut, isInBucket };
}

async function copyAll(deps: MoveDatabaseDeps, plan: CopyPlan, shapes: TableShape[]): Promise<void> {
  const { source, target } = deps;
  const count = await createCounter(deps, "copy", source, shapes);
  for (const shape of shapes) await copyTable({ source, target, plan, onRows: count }, shape);
  // PostgreSQL's planner has no statistics for tables that were just filled.
  await target.migrate((tx) => tx.script(shapes.map(({ name }) => `ANALYZE "${name}";`).join("\n")));
}

async function compareAll(deps: MoveDatabaseDeps, plan: CopyPlan, shapes: TableShape[]) {
  const { source, target } = deps;
  const count = await createCounter(deps, "compare", source, shapes);
  const tables: MoveDatabaseReport["tables"] = [];
  for (const shape of shapes) {
    const digest = await compareTable({ source, target, plan }, shape);
    if (digest === null) throw differs(shape.name);
    tables.push({ name: shape.name, ...digest });
    count(digest.rows);
  }
  return tables;
}

async function createCounter(
  { onProgress }: MoveDatabaseDeps,
  step: "copy" | "compare",
  source: Database,
  shapes: TableShape[],
): Promise<(rows: number) => void> {
  let [done, total] = [0, 0];
  for (const { name } of shapes) total += await countRows(source, name);
  onProgress({ step, done, total });
  return (rows) => {
    done += rows;
    onProgress({ step, done, total });
  };
}

async function clear(target: Database): Promise<void> {
  const filled = tableNames.filter((name) => name !== "migration" && name !== "relocation");
  const names = filled.map((name) => `"${name}"`).join(", ");
  await target.migrate((tx) => tx.script(`TRUNCATE ${names}`));
}

/**
 * Cancels the move: the embedded database accepts changes again, and the copy is obsolete. Returns whether the copy
 * itself was marked, so that no service starts on it.
 */
export async function abandonDatabase(
  source: Database,
  target: Database | null,
  now: number,
  author: Author,
): Promise<boolean> {
  const begun = await source.get(findRelocation, { name: "database" });
  // An interrupted run has left the mode on.
  const isReadOnly = (await source.all(listReasons, {})).some(({ reason }) => reason === "database");
  if (begun === null || (begun.state === "abandoned" && !isReadOnly)) {
    throw new AppError("NOT_FOUND", "The database is not being moved.");
  }
  // The copy first, because it is out of date as soon as the source accepts changes.
  const isMarked = target !== null && (await markAbandoned(target, begun, now));
  await source.run(setState, { name: "database", state: "abandoned", now });
  const abandoned = { ...begun, state: "abandoned", changed_at: now } as const;
  await leaveReadOnly(source, "database", (tx) => recordMove(tx, author, abandoned));
  return isMarked;
}

/** False if the copy that was started cannot be found. */
async function markAbandoned(target: Database, begun: RelocationRow, now: number): Promise<boolean> {
  const hasTable = raw<{ found: string | null }>("select cast(to_regclass('relocation') as text) as found");
  if ((await target.get(hasTable, []))?.found == null) return false;
  const there = await target.get(findRelocation, { name: "database" });
  if (there?.installation !== begun.installation) return false;
  const change = { name: "database", from: there.state, to: "abandoned", now } as const;
  if (there.state === "done" || (await target.run(changeState, change)) === 0) throw inUse(begun.target);
  return true;
}

function inUse(description: string): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    `The service has since been started on ${description}; its changes there would be lost.`,
    { suggestion: "Continue there, or use another, empty database." },
  );
}

function otherTarget({ target }: RelocationRow): AppError {
  return new AppError("VALIDATION_ERROR", `The database is already being moved to ${target}.`, {
    suggestion:
      "Set UPSTOW_DATABASE_URL to that one, or cancel the move first with `upstow migrate database --abort`.",
  });
}

function halfSwitched(): AppError {
  return new AppError("VALIDATION_ERROR", "The switch to the bucket was interrupted.", {
    suggestion: "Start the service once with the bucket's variables to complete it, then try again.",
  });
}

function differs(table: string): AppError {
  return new AppError(
    "INTERNAL_ERROR",
    `The copy of the table ${table} differs from the original; another program has written to it.`,
    {
      suggestion:
        "Run `upstow migrate database --abort`, then move to an empty database that nothing else uses.",
    },
  );
}

const listTables = raw<{ name: string }>(
  "select tablename as name from pg_tables where schemaname = current_schema()",
);
/** Starting a service or a copy fills these tables. */
const mayHoldRows = ["migration", "rate_window", "relocation", "relocated_table"];

/** Creates the schema in an empty database, or finds the copy started in it. Anything else is rejected. */
async function prepareTarget(
  target: Database,
  installation: string,
  description: string,
): Promise<RelocationRow | null> {
  const tables = (await target.all(listTables, [])).map(({ name }) => name);
  if (tables.length > 0 && !tables.includes("migration")) {
    throw refused(`${description} contains tables of another program.`);
  }
  await migrate(target);
  const begun = await target.get(findRelocation, { name: "database" });
  if (begun === null) await checkEmpty(target, description);
  else if (begun.installation !== installation) {
    throw refused(`${description} contains a copy of another installation.`);
  }
  return begun;
}

async function checkEmpty(target: Database, description: string): Promise<void> {
  for (const table of tableNames) {
    if (mayHoldRows.includes(table)) continue;
    if ((await countRows(target, table)) > 0)
      throw refused(`${description} already contains an Upstow installation (there are rows in ${table}).`);
  }
}

function refused(message: string): AppError {
  return new AppError("VALIDATION_ERROR", message, {
    suggestion: "Create an empty database and set UPSTOW_DATABASE_URL to it.",
  });
}
