import { type Queryable, withCommit } from "./database.ts";

interface Waiting<Job, Result> {
  job: Job;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

/**
 * Runs work on the same thing one call at a time: jobs that arrive during a call are handled together by the next. No
 * job joins a call that has already started, so no result is older than its request. `doTogether` returns one result
 * per job, in order.
 */
export function createLanes<Job, Result>(
  doTogether: (jobs: Job[], lane: string) => Promise<Result[]>,
  mostTogether: (first: Job) => number = () => Number.POSITIVE_INFINITY,
): (lane: string, job: Job) => Promise<Result> {
  const lanes = new Map<string, Waiting<Job, Result>[]>();

  async function drive(lane: string, queue: Waiting<Job, Result>[]): Promise<void> {
    for (let [next] = queue; next !== undefined; [next] = queue) {
      const batch = queue.splice(0, mostTogether(next.job));
      try {
        const results = await doTogether(
          batch.map(({ job }) => job),
          lane,
        );
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    lanes.delete(lane);
  }

  return (lane, job) =>
    new Promise((resolve, reject) => {
      const waiting = { job, resolve, reject };
      const queue = lanes.get(lane);
      if (queue !== undefined) {
        queue.push(waiting);
        return;
      }
      const first = [waiting];
      lanes.set(lane, first);
      // Jobs from the rest of this event loop turn join in.
      setImmediate(drive, lane, first);
    });
}

/**
 * One change of a row instead of many: amounts from callers that share a transaction and use the same name before
 * `apply` runs, a moment later, are added up, and all callers get its result. With `isLast` it runs with the commit of a
 * remote engine, and callers don't wait for it.
 */
export function gather<Sum>(
  add: (sum: Sum, more: Sum) => void,
  apply: (tx: Queryable, sum: Sum) => Promise<void>,
  isLast = false,
): (tx: Queryable, name: string, sum: Sum) => Promise<void> {
  const gathering = new WeakMap<Queryable, Map<string, { sum: Sum; applied: Promise<void> }>>();

  return (tx, name, sum) => {
    let ofTransaction = gathering.get(tx);
    if (ofTransaction === undefined) {
      ofTransaction = new Map();
      gathering.set(tx, ofTransaction);
    }
    const joined = ofTransaction.get(name);
    if (joined !== undefined) {
      add(joined.sum, sum);
      return joined.applied;
    }
    const names = ofTransaction;
    const start = () => {
      names.delete(name);
      return apply(tx, sum);
    };
    const applied = isLast && tx.atEnd !== undefined ? withCommit(tx, start) : Promise.resolve().then(start);
    names.set(name, { sum, applied });
    return applied;
  };
}
