import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../db/database.ts";
import { type Connection, DatabaseBusy, guardEngine } from "./sqlite-connection.ts";
import type { Snapshot } from "./sqlite-snapshot.ts";
import { createStallWatch, type StallWatch } from "./sqlite-stall-watch.ts";

interface Job {
  work: (tx: Queryable) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
  /** Kept until the commit is durable. */
  outcome: Outcome;
}

type Outcome = { isDone: true; value: unknown } | { isDone: false; error: unknown };

export interface GroupCommit {
  transact<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Resolves when nothing is left to commit. */
  drain(): Promise<void>;
}

const notRun: Outcome = { isDone: false, error: new Error("the transaction was not run") };

/** More than this many transactions in one commit gain nothing and keep the first caller waiting. */
const largestGroup = 256;
/** How long another process, such as an operator's command, may hold the write lock before callers are refused. */
const lockWithinMs = 5000;
const lockRetryMs = 5;

const currentTurn = () => performance.nodeTiming.uvMetricsInfo.loopCount;

/**
 * Transactions that arrive in the same turn of the event loop share one COMMIT and so one fsync; callers hear of
 * success only after that fsync. None of them sees another fail. A caller who has been alone for a turn does not wait
 * for others, which would cost it a tenth.
 */
export function createGroupCommit(writer: Connection, snapshot: Snapshot): GroupCommit {
  const queue: Job[] = [];
  let flushing = false;
  let isAlone = false;
  let turnOfLastFlush = -1;

  function scheduleFlush(): void {
    if (flushing || queue.length === 0) return;
    flushing = true;
    if (isAlone && currentTurn() !== turnOfLastFlush) queueMicrotask(flush);
    else setImmediate(flush);
  }

  function flush(): void {
    const group = queue.splice(0, largestGroup);
    const turn = currentTurn();
    isAlone = group.length === 1 && turn !== turnOfLastFlush;
    turnOfLastFlush = turn;
    const tellAll = () => {
      snapshot.end();
      for (const job of group) tell(job);
      flushing = false;
      scheduleFlush();
    };
    commitTogether(writer, snapshot, group, (isSettled) => {
      if (isSettled) tellAll();
      else void commitApart(writer, snapshot, group).then(tellAll);
    });
  }

  return {
    transact: <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        queue.push({ work, resolve: resolve as Job["resolve"], reject, outcome: notRun });
        scheduleFlush();
      }),
    async drain() {
      while (flushing || queue.length > 0) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

function tell({ outcome, resolve, reject }: Job): void {
  if (outcome.isDone) resolve(outcome.value);
  else reject(outcome.error);
}

/**
 * As if nothing could fail, which saves each job a savepoint. Where one does fail, or another process writes, the group
 * is not settled and has to be run apart. Made of callbacks: async functions would cost a lone insert some percent.
 */
function commitTogether(
  writer: Connection,
  snapshot: Snapshot,
  group: Job[],
  onOver: (isSettled: boolean) => void,
): void {
  const watch = createStallWatch();
  let position = 0;

  function end(isSettled: boolean): void {
    watch.end();
    onOver(isSettled);
  }
  function failTogether(error: unknown): void {
    failAll(writer, group, error);
    end(true);
  }
  function runNext(): void {
    const job = group[position++];
    if (job === undefined) commit();
    else runJob(writer, job, watch, runNext, handleFailure);
  }
  function commit(): void {
    try {
      guardEngine(() => writer.steps.commit.run());
    } catch (error) {
      failTogether(error);
      return;
    }
    end(true);
  }
  function handleFailure(error: unknown): void {
    if (group.length === 1 || !writer.database.isTransaction) {
      failTogether(error);
      return;
    }
    writer.database.exec("ROLLBACK");
    end(false);
  }

  let isLocked: boolean;
  try {
    isLocked = hasTakenLock(writer, snapshot);
  } catch (error) {
    failTogether(error);
    return;
  }
  if (!isLocked) {
    end(false);
    return;
  }
  watch.start();
  runNext();
}

async function commitApart(writer: Connection, snapshot: Snapshot, group: Job[]): Promise<void> {
  const watch = createStallWatch();
  try {
    await waitForLock(writer, snapshot);
    watch.start();
    for (const job of group) {
      writer.steps.save.run();
      await new Promise<void>((resolve, reject) => {
        // A full disk may have made SQLite roll everything back by itself; then the group has failed as a whole.
        runJob(writer, job, watch, resolve, (error) =>
          writer.database.isTransaction ? resolve() : reject(error),
        );
      });
      if (!job.outcome.isDone) writer.database.exec("ROLLBACK TO job");
      writer.steps.release.run();
    }
    if (group.some((job) => job.outcome.isDone)) guardEngine(() => writer.steps.commit.run());
    else writer.database.exec("ROLLBACK");
  } catch (error) {
    failAll(writer, group, error);
  } finally {
    watch.end();
  }
}

function failAll(writer: Connection, group: Job[], error: unknown): void {
  if (writer.database.isTransaction) writer.database.exec("ROLLBACK");
  for (const job of group) job.outcome = { isDone: false, error };
}

function hasTakenLock(writer: Connection, snapshot: Snapshot): boolean {
  snapshot.end();
  try {
    guardEngine(() => writer.steps.begin.run());
    return true;
  } catch (error) {
    if (error instanceof DatabaseBusy) return false;
    throw error;
  }
}

/** Waits without holding up the process, as the engine itself would. */
async function waitForLock(writer: Connection, snapshot: Snapshot): Promise<void> {
  const deadline = performance.now() + lockWithinMs;
  while (!hasTakenLock(writer, snapshot)) {
    if (performance.now() >= deadline) throw new DatabaseBusy("the database is busy");
    await wait(lockRetryMs);
  }
}

/** Sets the job's outcome, then calls the one or the other, once. */
function runJob(
  writer: Connection,
  job: Job,
  watch: StallWatch,
  onDone: () => void,
  onFailure: (error: unknown) => void,
): void {
  let isOpen = true;
  const usable = (): Connection => {
    if (!isOpen) throw new Error("this transaction has ended");
    return writer;
  };
  const settle = (outcome: Outcome): void => {
    if (!isOpen) return;
    isOpen = false;
    job.outcome = outcome;
    if (outcome.isDone) onDone();
    else onFailure(outcome.error);
  };
  const fail = (error: unknown) => settle({ isDone: false, error });
  watch.onStall(fail);
  try {
    job
      .work({
        all: async (statement, params) => usable().all(statement, params),
        get: async (statement, params) => usable().get(statement, params),
        run: async (statement, params) => usable().run(statement, params),
      })
      .then((value) => settle({ isDone: true, value }), fail);
  } catch (error) {
    fail(error);
  }
}
