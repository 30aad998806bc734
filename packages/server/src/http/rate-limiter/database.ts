import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import { createLanes } from "../../db/lanes.ts";
import { type DialectName, databaseNow, statement } from "../../db/statement.ts";
import { type RateLimiter, type RateLimitResult, rateLimitResult } from "../../kernel/rate-limiter.ts";

/** How an existing window continues, by the database's clock, and how much time is left. */
function windowTerms(dialect: DialectName, windowMs: number) {
  const now = databaseNow(dialect);
  // Also in the future, in case a clock was set back; but statements that wait for each other see times out of order.
  const hasEnded = sql<boolean>`abs(${now} - rate_window.started_at) >= cast(${windowMs} as bigint)`;
  return {
    now,
    changes: {
      started_at: sql<number>`case when ${hasEnded} then ${now} else rate_window.started_at end`,
      count: sql<number>`case when ${hasEnded} then excluded.count else rate_window.count + excluded.count end`,
    },
    msLeft: sql<number>`rate_window.started_at + cast(${windowMs} as bigint) - ${now}`.as("msLeft"),
  };
}

const countHit = statement((q, p: { name: string; hits: number; windowMs: number }, dialect) => {
  const { now, changes, msLeft } = windowTerms(dialect, p.windowMs);
  return q
    .insertInto("rate_window")
    .values({ bucket: p.name, started_at: now, count: p.hits })
    .onConflict((conflict) => conflict.column("bucket").doUpdateSet(changes))
    .returning(["count", msLeft]);
});

interface HitBoth {
  name: string;
  limit: number;
  sharedName: string;
  hits: number;
  windowMs: number;
}

/** Counts in both windows, but in the shared one only the hits that fit into the first. */
const countBoth = statement((q, p: HitBoth, dialect) => {
  const { now, changes, msLeft } = windowTerms(dialect, p.windowMs);
  const before = sql<number>`own.count - cast(${p.hits} as bigint)`;
  const room = sql<number>`cast(${p.limit} as bigint) - (${before})`;
  return q
    .with("own", (db) =>
      db
        .insertInto("rate_window")
        .values({ bucket: p.name, started_at: now, count: p.hits })
        .onConflict((conflict) => conflict.column("bucket").doUpdateSet(changes))
        .returning(["count", msLeft]),
    )
    .with("shared", (db) =>
      db
        .insertInto("rate_window")
        .columns(["bucket", "started_at", "count"])
        .expression((from) =>
          from
            .selectFrom("own")
            .select([
              sql<string>`cast(${p.sharedName} as text)`.as("bucket"),
              now.as("started_at"),
              sql<number>`least(cast(${p.hits} as bigint), ${room})`.as("count"),
            ])
            .where(sql<boolean>`${room} > 0`),
        )
        .onConflict((conflict) => conflict.column("bucket").doUpdateSet(changes))
        .returning(["count", msLeft]),
    )
    .selectFrom("own")
    .leftJoin("shared", (join) => join.onTrue())
    .select([
      "own.count as count",
      "own.msLeft as msLeft",
      "shared.count as sharedCount",
      "shared.msLeft as sharedMsLeft",
    ]);
});

/** Keeps a window that a request has restarted meanwhile. */
export const deleteEndedWindows = statement((q, p: { windowMs: number; take: number }, dialect) => {
  const hasEnded = sql<boolean>`started_at + cast(${p.windowMs} as bigint) <= ${databaseNow(dialect)}`;
  return q
    .deleteFrom("rate_window")
    .where("bucket", "in", q.selectFrom("rate_window").select("bucket").where(hasEnded).limit(p.take))
    .where(hasEnded);
});

const mostRemembered = 10_000;

interface Counted {
  count: number;
  msLeft: number;
}

/** Windows shared by all instances, with one statement and the database's clock. */
export function createDatabaseRateLimiter(db: Database, windowMs: number): RateLimiter {
  const exhausted = new Map<string, { limit: number; endsAt: number }>();

  /** A full window stays full until it ends, whatever other instances do, so there is no need to ask. */
  function findRefusal(name: string, limit: number): RateLimitResult | null {
    const known = exhausted.get(name);
    if (known === undefined) return null;
    const msLeft = known.endsAt - performance.now();
    if (msLeft > 0 && known.limit === limit) return rateLimitResult(limit + 1, limit, msLeft);
    exhausted.delete(name);
    return null;
  }

  function judge(name: string, limit: number, { count, msLeft }: Counted): RateLimitResult {
    if (count > limit) {
      if (exhausted.size >= mostRemembered) exhausted.clear();
      exhausted.set(name, { limit, endsAt: performance.now() + msLeft });
    }
    return rateLimitResult(count, limit, msLeft);
  }

  // Hits that arrive during a count are counted together next, but never more than fit into a window.
  const countOne = createLanes<number, Counted>(
    async (limits, name) => {
      const hits = limits.length;
      const [row] = await db.change(countHit, { name, hits, windowMs });
      if (row === undefined) throw new Error("counting requests returned no row");
      return limits.map((_, i) => ({ count: row.count - hits + i + 1, msLeft: row.msLeft }));
    },
    (limit) => Math.max(1, limit),
  );

  const countTwo = createLanes<
    { limit: number; sharedName: string },
    { own: Counted; shared: Counted | null }
  >(
    async (jobs, name) => {
      const hits = jobs.length;
      // A key has one limit and one account; if they have just changed, the latest applies.
      const { limit, sharedName } = jobs[hits - 1] as (typeof jobs)[number];
      const [row] = await db.change(countBoth, { name, limit, sharedName, hits, windowMs });
      if (row === undefined) throw new Error("counting requests returned no row");
      const { count, msLeft, sharedCount, sharedMsLeft } = row;
      const fitting = Math.min(hits, Math.max(0, limit - (count - hits)));
      return jobs.map((_, i) => ({
        own: { count: count - hits + i + 1, msLeft },
        shared:
          i < fitting && sharedCount !== null && sharedMsLeft !== null
            ? { count: sharedCount - fitting + i + 1, msLeft: sharedMsLeft }
            : null,
      }));
    },
    ({ limit }) => Math.max(1, limit),
  );

  return {
    async hit(name, limit) {
      return findRefusal(name, limit) ?? judge(name, limit, await countOne(name, limit));
    },
    async hitBoth(own, shared) {
      const ownRefusal = findRefusal(own.name, own.limit);
      if (ownRefusal !== null) return { own: ownRefusal, shared: null };
      const counted = await countTwo(own.name, { limit: own.limit, sharedName: shared.name });
      return {
        own: judge(own.name, own.limit, counted.own),
        shared: counted.shared && judge(shared.name, shared.limit, counted.shared),
      };
    },
  };
}
