import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { beginCall } from "../../kernel/calls.ts";
import type { Queryable } from "../database.ts";
import { type Connection, DatabaseBusy, guardEngine } from "./connection.ts";
import type { Snapshot } from "./recall.ts";

interface Job {
  work: (tx: Queryable) => Promise<unknown>;
  lane: string | undefined;
  resolve: (value: unknown) => void;
  reject: (reason: unknown) => void;
  /** Kept until the commit is durable. */
  outcome: Outcome;
}

type Outcome = { isDone: true; value: unknown } | { isDone: false; error: unknown };

export interface GroupCommit {
  transact<T>(work: (tx: Queryable) => Promise<T>, lane?: string): Promise<T>;
  /** Resolves when nothing is left to commit. */
  drain(): Promise<void>;
}

const notRun: Outcome = { isDone: false, error: new Error("the transaction was not run") };

/** More transactions per commit gain nothing and keep the first caller waiting. */
const largestGroup = 256;
/** A commit costs more than a turn of the event loop, but with more turns the first callers wait too long. */
const mostTurnsWaited = 3;
/** How long another process, such as an operator's command, may hold the write lock before callers are rejected. */
const lockWithinMs = 5000;
const lockRetryMs = 5;

const currentTurn = () => performance.nodeTiming.uvMetricsInfo.loopCount;

/**
 * Transactions that arrive in the same turn of the event loop, or in the next ones while more arrive, share one
 * COMMIT and thus one fsync; callers are notified only after that fsync. A failure does not affect the others. A
 * caller that was alone for one turn does not wait for others, which would cost it 10%.
 */
export function createGroupCommit(
  writer: Connection,
  snapshot: Snapshot,
  onCommitted: (tables: Set<string>, transactions: number) => void,
): GroupCommit {
  const queue: Job[] = [];
  let flushing = false;
  let isAlone = false;
  let turnOfLastFlush = -1;

  function scheduleFlush(): void {
    if (flushing || queue.length === 0) return;
    flushing = true;
    if (isAlone && currentTurn() !== turnOfLastFlush) queueMicrotask(flush);
    else setImmediate(flushWhenQuiet);
  }

  /** More requests arrive while those of this turn are handled; the next turn brings them. */
  function flushWhenQuiet(alreadyHere = 0, turnsWaited = 0): void {
    const hasGrown = queue.length > Math.max(alreadyHere, 1) && queue.length < largestGroup;
    if (hasGrown && turnsWaited < mostTurnsWaited)
      setImmediate(flushWhenQuiet, queue.length, turnsWaited + 1);
    else flush();
  }

  function flush(): void {
    const group = queue.splice(0, largestGroup);
    const turn = currentTurn();
    isAlone = group.length === 1 && turn !== turnOfLastFlush;
    turnOfLastFlush = turn;
    const tellAll = () => {
      snapshot.end();
      onCommitted(writer.changed, group.length);
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
    transact: <T>(work: (tx: Queryable) => Promise<T>, lane?: string): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        queue.push({ work, lane, resolve: resolve as Job["resolve"], reject, outcome: notRun });
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
 * Optimistic, without savepoints. A job that fails before any change, as most rejections do, does not affect the
 * others. If one fails later, or another process is writing, the group is not settled and its jobs have to run
 * separately. Uses callbacks, because async functions would cost a single insert a few percent.
 */
function commitTogether(
  writer: Connection,
  snapshot: Snapshot,
  group: Job[],
  onOver: (isSettled: boolean) => void,
): void {
  const watch = createStallWatch();
  const units = byLane(group);
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
    const unit = units[position++];
    if (unit === undefined) commit();
    else runUnit(writer, unit, watch, runNext, handleFailure);
  }
  function commit(): void {
    const call = beginCall("database", "commit");
    try {
      guardEngine(() => writer.steps.commit.run());
    } catch (error) {
      call.end(error);
      failTogether(error);
      return;
    }
    call.end();
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
        // On a full disk, SQLite may roll everything back by itself; then the whole group has failed.
        runUnit(writer, [job], watch, resolve, (error) => {
          job.outcome = { isDone: false, error };
          if (writer.database.isTransaction) resolve();
          else reject(error);
        });
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

/** Waits without blocking the process, unlike the engine itself. */
async function waitForLock(writer: Connection, snapshot: Snapshot): Promise<void> {
  const deadline = performance.now() + lockWithinMs;
  while (!hasTakenLock(writer, snapshot)) {
    if (performance.now() >= deadline) throw new DatabaseBusy("the database is busy");
    await wait(lockRetryMs);
  }
}

/** Jobs of one lane run concurrently, every other job by itself. */
function byLane(group: Job[]): Job[][] {
  const units: Job[][] = [];
  const lanes = new Map<string, Job[]>();
  for (const job of group) {
    const unit = job.lane === undefined ? undefined : lanes.get(job.lane);
    if (unit !== undefined) {
      unit.push(job);
      continue;
    }
    const first = [job];
    units.push(first);
    if (job.lane !== undefined) lanes.set(job.lane, first);
  }
  return units;
}

/**
 * Runs jobs in one transaction and calls one of the two callbacks, once: when all are done, or when one fails after
 * a change.
 */
function runUnit(
  writer: Connection,
  unit: Job[],
  watch: StallWatch,
  onDone: () => void,
  onFailure: (error: unknown) => void,
): void {
  let running = unit.length;
  let hasChanged = false;
  const usable = (): Connection => {
    if (running === 0) throw new Error("this transaction has ended");
    return writer;
  };
  const tx: Queryable = {
    dialect: "sqlite",
    async all(statement, params) {
      const rows = usable().all(statement, params);
      if (rows.length > 0 && writer.isChanging(statement)) hasChanged = true;
      return rows;
    },
    async get(statement, params) {
      const row = usable().get(statement, params);
      if (row !== null && writer.isChanging(statement)) hasChanged = true;
      return row;
    },
    async run(statement, params) {
      const count = usable().run(statement, params);
      if (count > 0) hasChanged = true;
      return count;
    },
  };
  const fail = (error: unknown): void => {
    if (running === 0) return;
    running = 0;
    onFailure(error);
  };
  watch.onStall(fail);
  for (const job of unit) {
    const settle = (outcome: Outcome): void => {
      if (running === 0) return;
      job.outcome = outcome;
      running--;
      if (running === 0) onDone();
    };
    const refuse = (error: unknown): void => {
      // On a full disk, SQLite may roll everything back by itself.
      if (hasChanged || !writer.database.isTransaction) fail(error);
      else settle({ isDone: false, error });
    };
    try {
      job.work(tx).then((value) => settle({ isDone: true, value }), refuse);
    } catch (error) {
      refuse(error);
    }
  }
}

/** Rejects work that waits for anything but SQLite, because every other writer would wait with it. */
interface StallWatch {
  start(): void;
  /** Until the next call, runs each time the work is found waiting for something else. */
  onStall(refuse: (reason: Error) => void): void;
  end(): void;
}

/**
 * SQLite is synchronous, so a transaction's work is a chain of microtasks. Work that is still pending in the next phase
 * of the event loop is waiting for something else.
 */
function createStallWatch(): StallWatch {
  let refuse: (reason: Error) => void = () => {};
  let next: NodeJS.Immediate | undefined;

  function look(): void {
    next = setImmediate(look);
    refuse(new Error("a transaction waited for something other than its own statements"));
  }

  return {
    start() {
      next = setImmediate(look);
    },
    onStall(refuseWork) {
      refuse = refuseWork;
    },
    end: () => clearImmediate(next),
  };
}
