import { type Database, type Queryable, withCommit } from "./database.ts";

interface Waiting<Job, Result> {
  job: Job;
  resolve: (result: Result) => void;
  reject: (reason: unknown) => void;
}

interface Lane<Job, Result> {
  queue: Waiting<Job, Result>[];
  calls: number;
}

/**
 * Runs work on the same thing one call at a time: jobs that arrive during a call are handled together by the next. No
 * job joins a call that has already started, so no result is older than its request. `doTogether` returns one result
 * per job, in order. Once `besideFrom` jobs wait, a second call starts beside the first.
 */
export function createLanes<Job, Result>(
  doTogether: (jobs: Job[], lane: string) => Promise<Result[]>,
  mostTogether: (first: Job) => number = () => Number.POSITIVE_INFINITY,
  besideFrom = Number.POSITIVE_INFINITY,
): (lane: string, job: Job) => Promise<Result> {
  const lanes = new Map<string, Lane<Job, Result>>();

  async function drive(name: string, lane: Lane<Job, Result>): Promise<void> {
    const { queue } = lane;
    for (let [next] = queue; next !== undefined; [next] = queue) {
      const batch = queue.splice(0, mostTogether(next.job));
      try {
        const results = await doTogether(
          batch.map(({ job }) => job),
          name,
        );
        for (const [i, { resolve }] of batch.entries()) resolve(results[i] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    lane.calls--;
    if (lane.calls === 0) lanes.delete(name);
  }

  return (name, job) =>
    new Promise((resolve, reject) => {
      const lane = lanes.get(name) ?? { queue: [], calls: 0 };
      lanes.set(name, lane);
      const waitingCount = lane.queue.push({ job, resolve, reject });
      if (lane.calls === 0 || (lane.calls === 1 && waitingCount === besideFrom)) {
        lane.calls++;
        // Jobs from the rest of this event loop turn join in.
        setImmediate(drive, name, lane);
      }
    });
}

/**
 * Rows looked up by their ids at the same time, with one statement. Callers share the row of an id and must not modify
 * it.
 */
export function findEachTogether<Key extends { id: string }, Row extends { id: string }>(
  findAll: (db: Database, keys: Key[]) => Promise<Row[]>,
): (db: Database, lane: string, key: Key) => Promise<Row | null> {
  const lanesOf = new WeakMap<Database, (lane: string, key: Key) => Promise<Row | null>>();
  return (db, lane, key) => {
    let inLane = lanesOf.get(db);
    if (inLane === undefined) {
      inLane = createLanes<Key, Row | null>(async (keys) => {
        const rows = new Map((await findAll(db, keys)).map((row) => [row.id, row]));
        return keys.map(({ id }) => rows.get(id) ?? null);
      });
      lanesOf.set(db, inLane);
    }
    return inLane(lane, key);
  };
}

/**
 * One change instead of many: what callers that share a transaction want under the same name before `apply` runs, a
 * moment later, is added up, and all callers get its result.
 */
export function gather<Sum, Result = void>(
  add: (sum: Sum, more: Sum) => void,
  apply: (tx: Queryable, sum: Sum) => Promise<Result>,
): (tx: Queryable, name: string, sum: Sum) => Promise<Result> {
  return gatherUntil(add, async (tx, close) => {
    // Whatever started in this turn has joined by then.
    await null;
    return apply(tx, close());
  });
}

/** The same, but with the commit of a remote engine: callers don't wait for it. */
export function gatherLast<Sum>(
  add: (sum: Sum, more: Sum) => void,
  apply: (tx: Queryable, sum: Sum) => Promise<void>,
): (tx: Queryable, name: string, sum: Sum) => Promise<void> {
  return gatherUntil(add, async (tx, close) => {
    if (tx.atEnd === undefined) await null;
    await withCommit(tx, () => apply(tx, close()));
  });
}

/**
 * Jobs of callers that share a transaction, done by one statement: each caller gets the row with its own id, or null. Of
 * jobs with the same id, only the first is done.
 */
export function doEachTogether<Job extends { id: string }, Row extends { id: string }>(
  doAll: (tx: Queryable, jobs: Job[]) => Promise<Row[]>,
): (tx: Queryable, name: string, job: Job) => Promise<Row | null> {
  const doGathered = gather<Map<string, Job>, Map<string, Row>>(
    (jobs, more) => {
      for (const [id, job] of more) if (!jobs.has(id)) jobs.set(id, job);
    },
    async (tx, jobs) => new Map((await doAll(tx, [...jobs.values()])).map((row) => [row.id, row])),
  );
  return async (tx, name, job) => {
    const rows = await doGathered(tx, name, new Map([[job.id, job]]));
    const own = rows.get(job.id) ?? null;
    rows.delete(job.id);
    return own;
  };
}

function gatherUntil<Sum, Result>(
  add: (sum: Sum, more: Sum) => void,
  start: (tx: Queryable, close: () => Sum) => Promise<Result>,
): (tx: Queryable, name: string, sum: Sum) => Promise<Result> {
  type Gathering = Map<string, { sum: Sum; applied: Promise<Result> }>;
  const gathering = new WeakMap<Queryable, Gathering>();

  return (tx, name, sum) => {
    const names: Gathering = gathering.get(tx) ?? new Map();
    gathering.set(tx, names);
    const joined = names.get(name);
    if (joined !== undefined) {
      add(joined.sum, sum);
      return joined.applied;
    }
    const applied = start(tx, () => {
      names.delete(name);
      return sum;
    });
    names.set(name, { sum, applied });
    return applied;
  };
}
