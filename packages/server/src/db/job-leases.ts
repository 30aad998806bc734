import { randomInt } from "node:crypto";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { sql } from "#kysely";
import type { Database } from "./database.ts";
import { databaseNow, leaseEnd, statement } from "./statement.ts";

type Work = (signal: AbortSignal) => Promise<unknown>;

/**
 * Runs the work, unless an instance is doing so or did within `leaseMs`, including this one before a restart. Failed or
 * interrupted work is due immediately. The signal aborts when another instance has the lease.
 */
export type RunLeased = (name: string, leaseMs: number, work: Work, signal: AbortSignal) => Promise<void>;

interface Lease {
  name: string;
  leaseMs: number;
}

const takeLease = statement((q, p: Lease, dialect) =>
  q
    .insertInto("job_lease")
    .values({ name: p.name, token: 1, held_until: leaseEnd(dialect, p.leaseMs) })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({
          token: sql<number>`job_lease.token + 1`,
          held_until: sql<number>`excluded.held_until`,
        })
        .where("job_lease.held_until", "<=", databaseNow(dialect)),
    )
    .returning("token"),
);

const extendLease = statement((q, p: Lease & { token: number }, dialect) =>
  q
    .updateTable("job_lease")
    .set({ held_until: leaseEnd(dialect, p.leaseMs) })
    .where("name", "=", p.name)
    .where("token", "=", p.token),
);

/** How soon others may continue the work of an instance that crashed. */
const holdMs = 300_000;
/** An embedded database has one instance, so it records only runs that a restart would otherwise put off for long. */
const worthRecordingMs = 300_000;

/** Instances use the database and its clock to agree on who does the work, and when it is due again. */
export function createJobLeases(db: Database): RunLeased {
  return async (name, leaseMs, work, signal) => {
    if (db.dialect === "sqlite" && leaseMs < worthRecordingMs) return void (await work(signal));
    const heldMs = Math.min(leaseMs, holdMs);
    const [taken] = await db.change(takeLease, { name, leaseMs: heldMs });
    if (taken === undefined) return;
    const lost = new AbortController();
    const holdFor = (ms: number) => db.run(extendLease, { name, token: taken.token, leaseMs: ms });
    const extend = async () => {
      if ((await holdFor(heldMs)) === 0) lost.abort();
    };
    // While the database is unavailable, no other instance can take the lease either.
    const extending = setInterval(() => void extend().catch(() => {}), heldMs / 3);
    let isDone = false;
    try {
      await work(AbortSignal.any([signal, lost.signal]));
      isDone = !signal.aborted;
    } finally {
      clearInterval(extending);
      await holdFor(isDone ? leaseMs : 0).catch(() => {});
    }
  };
}

/** Longer than a statement takes: it is extended while the work runs, and ends with an instance that crashed. */
const turnMs = 20_000;
const lookAgainMs = 50;

/** Runs the work while no other instance runs any of this name. Those wait. */
export async function inTurn<T>(db: Database, name: string, work: () => Promise<T>): Promise<T> {
  if (db.dialect === "sqlite") return work();
  for (;;) {
    const [taken] = await db.change(takeLease, { name, leaseMs: turnMs });
    if (taken === undefined) {
      await sleep(lookAgainMs);
      continue;
    }
    const holdFor = (leaseMs: number) =>
      db.run(extendLease, { name, token: taken.token, leaseMs }).catch(() => {});
    const extending = setInterval(() => void holdFor(turnMs), turnMs / 4);
    try {
      return await work();
    } finally {
      clearInterval(extending);
      await holdFor(0);
    }
  }
}

const takeSeat = statement((q, p: Lease & { token: number }, dialect) =>
  q
    .insertInto("job_lease")
    .values({ name: p.name, token: p.token, held_until: leaseEnd(dialect, p.leaseMs) })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ token: sql<number>`excluded.token`, held_until: sql<number>`excluded.held_until` })
        .where((where) =>
          where.or([
            where("job_lease.held_until", "<=", databaseNow(dialect)),
            where("job_lease.token", "=", p.token),
          ]),
        ),
    )
    .returning("token"),
);

/** Tells whether this instance is the one that speaks for all, as it stays while it asks at least every `holdMs`. */
export function createSeat(db: Database, name: string, holdMs: number): () => Promise<boolean> {
  if (db.dialect === "sqlite") return async () => true;
  const token = randomInt(2 ** 47);
  let heldUntilMs = 0;
  return async () => {
    const askedMs = performance.now();
    if (heldUntilMs - askedMs > holdMs / 2) return true;
    const [taken] = await db.change(takeSeat, { name, token, leaseMs: holdMs });
    // Counted from before the call, so it ends here before it does for the others.
    heldUntilMs = taken === undefined ? 0 : askedMs + holdMs;
    return taken !== undefined;
  };
}

/** Rows changed per housekeeping statement: a few milliseconds of SQLite's single writer. */
export const STEP_ROWS = 500;

/** Repeats a statement that changes at most `STEP_ROWS` rows until it finds fewer. Other work runs in between. */
export async function inSteps(step: (take: number) => Promise<number>, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true) {
    if ((await step(STEP_ROWS)) < STEP_ROWS) return;
    await nextTurn();
  }
}
