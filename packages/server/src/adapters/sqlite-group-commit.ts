import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../db/database.ts";
import { type Connection, DatabaseBusy, guardEngine } from "./sqlite-connection.ts";
import type { Snapshot } from "./sqlite-snapshot.ts";
import { createStallWatch, type StallWatch } from "./sqlite-stall-watch.ts";

interface Job {
  work: (tx: Queryable) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
}

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown };

export interface GroupCommit {
  transact<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Resolves when nothing is left to commit. */
  drain(): Promise<void>;
}

/** More than this many transactions in one commit gain nothing and keep the first caller waiting. */
const largestGroup = 256;
/** How long another process, such as an operator's command, may hold the write lock before callers are refused. */
const lockWithinMs = 5000;
const lockRetryMs = 5;

/**
 * Transactions that arrive in the same turn of the event loop share one COMMIT and so one fsync; callers hear of
 * success only after that fsync. None of them sees another fail.
 */
export function createGroupCommit(writer: Connection, snapshot: Snapshot): GroupCommit {
  let queue: Job[] = [];
  let flushing = false;

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
    transact: <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
        scheduleFlush();
      }),
    async drain() {
      while (flushing || queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

async function commitGroup(writer: Connection, snapshot: Snapshot, group: Job[]): Promise<void> {
  const watch = createStallWatch();
  let outcomes: Outcome[];
  try {
    await takeLock(writer, snapshot);
    watch.start();
    outcomes = await runTogether(writer, group, watch);
    if (group.length > 1 && outcomes.some(hasFailed)) {
      writer.database.exec("ROLLBACK");
      await takeLock(writer, snapshot);
      outcomes = await runApart(writer, group, watch);
    }
    if (outcomes.every(hasFailed)) writer.database.exec("ROLLBACK");
    else guardEngine(() => writer.steps.commit.run());
  } catch (error) {
    if (writer.database.isTransaction) writer.database.exec("ROLLBACK");
    outcomes = group.map((job) => ({ job, error }));
  } finally {
    watch.end();
    snapshot.end();
  }
  for (const outcome of outcomes) {
    if ("error" in outcome) outcome.job.reject(outcome.error);
    else outcome.job.resolve(outcome.value);
  }
}

/** Waits without holding up the process, as the engine itself would. */
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

/** As if none could fail, which saves each a savepoint; stops at the first that does. */
async function runTogether(writer: Connection, group: Job[], watch: StallWatch): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const job of group) {
    const outcome = await runJob(writer, job, watch);
    outcomes.push(outcome);
    if (hasFailed(outcome)) break;
  }
  return outcomes;
}

async function runApart(writer: Connection, group: Job[], watch: StallWatch): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const job of group) {
    writer.steps.save.run();
    const outcome = await runJob(writer, job, watch);
    if (hasFailed(outcome)) writer.database.exec("ROLLBACK TO job");
    writer.steps.release.run();
    outcomes.push(outcome);
  }
  return outcomes;
}

async function runJob(writer: Connection, job: Job, watch: StallWatch): Promise<Outcome> {
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
    return { job, value: await watch.untilStalled(job.work(tx)) };
  } catch (error) {
    // A full disk may have made SQLite roll everything back by itself; then the group has failed as a whole.
    if (!writer.database.isTransaction) throw error;
    return { job, error };
  } finally {
    open = false;
  }
}

function hasFailed(outcome: Outcome): boolean {
  return "error" in outcome;
}
