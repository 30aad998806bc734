import { EventEmitter } from "node:events";
import { chmodSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type Database, DatabaseUnavailable, type Queryable, UniqueViolation } from "../db/database.ts";
import type { Statement } from "../db/statement.ts";
import { StorageFull } from "../ports/object-store.ts";

interface Job {
  work: (tx: Queryable) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown };

/** More than this many transactions in one commit gain nothing and keep the first caller waiting. */
const largestGroup = 256;
const stalled = Symbol("stalled");

/**
 * The embedded engine. Reads never see what is not yet durable.
 * Transactions that arrive in the same turn of the event loop share one COMMIT and so one fsync, each inside
 * its own savepoint; callers hear of success only after that fsync.
 */
export function openSqlite(path: string): Database {
  const writer = openConnection(path);
  const reader = openConnection(path);
  reader.database.exec("PRAGMA query_only = ON");
  const messages = new EventEmitter();
  let queue: Job[] = [];
  let flushing = false;

  /**
   * A connection that sees only what is durable. The writer's own cache is warm where another connection would have
   * to read every page again that a commit has touched; while a transaction is open, its changes are not for others.
   */
  const committed = (): Connection => (writer.database.isTransaction ? reader : writer);

  const transact = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      scheduleFlush();
    });

  function scheduleFlush(): void {
    if (flushing || queue.length === 0) return;
    flushing = true;
    setImmediate(async () => {
      const group = queue.slice(0, largestGroup);
      queue = queue.slice(largestGroup);
      await commitGroup(writer, group);
      flushing = false;
      scheduleFlush();
    });
  }

  return {
    dialect: "sqlite",
    all: async (statement, params) => committed().all(statement, params),
    get: async (statement, params) => committed().get(statement, params),
    run: (statement, params) => transact((tx) => tx.run(statement, params)),
    change: (statement, params) => transact((tx) => tx.all(statement, params)),
    transact,
    migrate: (work) =>
      transact((tx) =>
        work({
          ...tx,
          async script(sql) {
            guardEngine(() => writer.database.exec(sql));
          },
        }),
      ),
    async notify(channel, message) {
      messages.emit(channel, message);
    },
    async listen(channel, onMessage) {
      messages.on(channel, onMessage);
    },
    async check() {
      guardEngine(() => reader.database.prepare("SELECT 1").get());
    },
    async close() {
      while (flushing || queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
      reader.database.close();
      writer.database.close();
    },
  };
}

async function commitGroup(writer: Connection, group: Job[]): Promise<void> {
  let outcomes: Outcome[];
  try {
    guardEngine(() => writer.steps.begin.run());
    outcomes = [];
    for (const job of group) outcomes.push(await runInSavepoint(writer, job));
    guardEngine(() => writer.steps.commit.run());
  } catch (error) {
    if (writer.database.isTransaction) writer.database.exec("ROLLBACK");
    for (const job of group) job.reject(error);
    return;
  }
  for (const outcome of outcomes) {
    if ("error" in outcome) outcome.job.reject(outcome.error);
    else outcome.job.resolve(outcome.value);
  }
}

async function runInSavepoint(writer: Connection, job: Job): Promise<Outcome> {
  writer.steps.save.run();
  let open = true;
  const usable = (): Connection => {
    if (!open) throw new Error("this transaction has ended");
    return writer;
  };
  const tx: Queryable = {
    all: async (statement, params) => usable().all(statement, params),
    get: async (statement, params) => usable().get(statement, params),
    run: async (statement, params) => usable().run(statement, params),
  };
  try {
    const value = await withinThisTurn(job.work(tx));
    writer.steps.release.run();
    return { job, value };
  } catch (error) {
    // A full disk may have made SQLite roll everything back by itself; then the group has failed as a whole.
    if (!writer.database.isTransaction) throw error;
    writer.database.exec("ROLLBACK TO job; RELEASE job");
    return { job, error };
  } finally {
    open = false;
  }
}

/**
 * SQLite answers at once, so its work is a chain of microtasks. Work that is still open when there are no more of
 * them waits for something else.
 */
async function withinThisTurn<T>(work: Promise<T>): Promise<T> {
  const idle = new Promise<typeof stalled>((resolve) => {
    // Ticks run once all microtasks are done, provided they were asked for by one of them.
    queueMicrotask(() => process.nextTick(resolve, stalled));
  });
  const first = await Promise.race([work, idle]);
  if (first !== stalled) return first as T;
  work.catch(() => {});
  throw new Error("a transaction waited for something other than its own statements");
}

interface Connection {
  database: DatabaseSync;
  /** The steps of every transaction, prepared: parsing them costs more than taking them. */
  steps: { begin: StatementSync; commit: StatementSync; save: StatementSync; release: StatementSync };
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row[];
  get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Row | null;
  run<Params extends object>(statement: Statement<Params, unknown>, params: Params): number;
}

function openConnection(path: string): Connection {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -16000;
    PRAGMA wal_autocheckpoint = 4000;
  `);
  if (path !== ":memory:") chmodSync(path, 0o600);
  const prepared = new Map<Statement<object, unknown>, Prepared>();

  function prepare(statement: Statement<object, unknown>): Prepared {
    let ready = prepared.get(statement);
    if (ready === undefined) {
      ready = prepareStatement(database, statement);
      prepared.set(statement, ready);
    }
    return ready;
  }

  const steps = {
    begin: database.prepare("BEGIN IMMEDIATE"),
    commit: database.prepare("COMMIT"),
    save: database.prepare("SAVEPOINT job"),
    release: database.prepare("RELEASE job"),
  };

  return {
    database,
    steps,
    all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params) {
      const { run, bind, toRow } = prepare(statement);
      const rows = guardEngine(() => run.all(...bind(params)) as unknown as unknown[][]);
      return rows.map(toRow) as Row[];
    },
    get<Params extends object, Row>(statement: Statement<Params, Row>, params: Params) {
      const { run, bind, toRow } = prepare(statement);
      const values = guardEngine(() => run.get(...bind(params)) as unknown as unknown[] | undefined);
      return values === undefined ? null : (toRow(values) as Row);
    },
    run(statement, params) {
      const { run, bind } = prepare(statement);
      return guardEngine(() => Number(run.run(...bind(params)).changes));
    },
  };
}

interface Prepared {
  run: StatementSync;
  bind: (params: object) => SQLInputValue[];
  toRow: (values: unknown[]) => object;
}

/** Values come as arrays and become objects here, which takes half the time that the engine's own objects take. */
function prepareStatement(database: DatabaseSync, statement: Statement<object, unknown>): Prepared {
  const { sql, bind } = statement.compile("sqlite");
  const run = database.prepare(sql);
  run.setReturnArrays(true);
  const names = run.columns().map((column) => column.name);
  return {
    run,
    bind: bind as Prepared["bind"],
    toRow(values) {
      const row: Record<string, unknown> = {};
      for (let i = 0; i < names.length; i++) row[names[i] as string] = values[i];
      return row;
    },
  };
}

/** Result codes of SQLite that say the engine, not the statement, is in trouble. */
const engineTrouble = new Map([
  [5, "the database is busy"],
  [10, "the database cannot read or write its files"],
  [11, "the database file is damaged"],
  [14, "the database file cannot be opened"],
]);
const diskFull = 13;
const uniqueViolations = [1555, 2067];

function guardEngine<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const code = (error as { errcode?: number }).errcode;
    if (code === undefined) throw error;
    if (uniqueViolations.includes(code)) throw new UniqueViolation("the value is taken", { cause: error });
    const primary = code & 0xff;
    if (primary === diskFull)
      throw new StorageFull("the disk that holds the database is full", { cause: error });
    const trouble = engineTrouble.get(primary);
    if (trouble !== undefined) throw new DatabaseUnavailable(trouble, { cause: error });
    throw error;
  }
}
