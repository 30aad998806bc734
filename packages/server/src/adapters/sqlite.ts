import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Database, Queryable } from "../db/database.ts";
import { type Connection, DatabaseBusy, guardEngine, openConnection } from "./sqlite-connection.ts";
import { createSnapshot, type Snapshot } from "./sqlite-snapshot.ts";

interface Job {
  work: (tx: Queryable) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown };

/** More than this many transactions in one commit gain nothing and keep the first caller waiting. */
const largestGroup = 256;
/** How long another process, such as an operator's command, may hold the write lock before callers are refused. */
const lockWithinMs = 5000;
const lockRetryMs = 5;

/**
 * The embedded engine. Reads never see what is not yet durable.
 * Transactions that arrive in the same turn of the event loop share one COMMIT and so one fsync, each inside
 * its own savepoint; callers hear of success only after that fsync.
 */
export function openSqlite(path: string): Database {
  const writer = openConnection(path);
  const reader = openConnection(path);
  // The engine would wait for a lock with the whole process; `takeLock` waits without.
  writer.database.exec("PRAGMA busy_timeout = 0");
  reader.database.exec("PRAGMA query_only = ON");
  const messages = new EventEmitter();
  const snapshot = createSnapshot(writer, reader);
  let queue: Job[] = [];
  let flushing = false;

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
      await commitGroup(writer, snapshot, group);
      flushing = false;
      scheduleFlush();
    });
  }

  return {
    dialect: "sqlite",
    revision: snapshot.revision,
    all: async (statement, params) => snapshot.open().all(statement, params),
    get: async (statement, params) => snapshot.open().get(statement, params),
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
      snapshot.end();
      reader.database.close();
      writer.database.close();
    },
  };
}

async function commitGroup(writer: Connection, snapshot: Snapshot, group: Job[]): Promise<void> {
  let outcomes: Outcome[];
  try {
    await takeLock(writer, snapshot);
    outcomes = await runGroup(writer, group);
    guardEngine(() => writer.steps.commit.run());
    snapshot.end();
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

async function takeLock(writer: Connection, snapshot: Snapshot): Promise<void> {
  const deadline = performance.now() + lockWithinMs;
  for (;;) {
    snapshot.end();
    try {
      guardEngine(() => writer.steps.begin.run());
      return;
    } catch (error) {
      if (!(error instanceof DatabaseBusy) || performance.now() >= deadline) throw error;
    }
    await wait(lockRetryMs);
  }
}

/**
 * SQLite answers at once, so the work of a transaction is a chain of microtasks. Work that is still open in the next
 * phase of the event loop waits for something else, and everyone waits with it.
 */
async function runGroup(writer: Connection, group: Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let refuse: (reason: Error) => void = () => {};
  const watch = () => {
    watching = setImmediate(watch);
    refuse(new Error("a transaction waited for something other than its own statements"));
  };
  let watching = setImmediate(watch);
  try {
    for (const job of group) {
      const untilStalled = (work: Promise<unknown>) =>
        new Promise<unknown>((resolve, reject) => {
          refuse = reject;
          work.then(resolve, reject);
        });
      outcomes.push(await runInSavepoint(writer, job, untilStalled));
    }
  } finally {
    clearImmediate(watching);
  }
  return outcomes;
}

async function runInSavepoint(
  writer: Connection,
  job: Job,
  untilStalled: (work: Promise<unknown>) => Promise<unknown>,
): Promise<Outcome> {
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
    const value = await untilStalled(job.work(tx));
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
