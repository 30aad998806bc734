import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import { databaseNow } from "../../db/expressions.ts";
import { statement } from "../../db/statement.ts";
import { type RateLimiter, rateLimitResult } from "../../ports/rate-limiter.ts";
import { createLanes } from "../lanes.ts";

const countHit = statement((q, p: { bucket: string; hits: number; windowMs: number }, dialect) => {
  const now = databaseNow(dialect);
  // In the future too, for a clock that was set back; but statements that wait for each other see theirs out of order.
  const hasEnded = sql<boolean>`abs(${now} - rate_window.started_at) >= cast(${p.windowMs} as bigint)`;
  return q
    .insertInto("rate_window")
    .values({ bucket: p.bucket, started_at: now, count: p.hits })
    .onConflict((conflict) =>
      conflict.column("bucket").doUpdateSet({
        started_at: sql`case when ${hasEnded} then ${now} else rate_window.started_at end`,
        count: sql`case when ${hasEnded} then excluded.count else rate_window.count + excluded.count end`,
      }),
    )
    .returning([
      "count",
      sql<number>`rate_window.started_at + cast(${p.windowMs} as bigint) - ${now}`.as("msLeft"),
    ]);
});

export const deleteEndedWindows = statement((q, p: { windowMs: number }, dialect) =>
  q
    .deleteFrom("rate_window")
    .where(sql<boolean>`started_at + cast(${p.windowMs} as bigint) <= ${databaseNow(dialect)}`),
);

const mostRemembered = 10_000;

/** Windows shared by all instances, by one statement and the database's clock. */
export function createDatabaseRateLimiter(db: Database, windowMs: number): RateLimiter {
  const exhausted = new Map<string, { limit: number; endsAt: number }>();
  // Those that come while others are being counted are counted together, but never more than a window takes.
  const countOne = createLanes<number, { count: number; msLeft: number }>(
    async (limits, bucket) => {
      const hits = limits.length;
      const [row] = await db.change(countHit, { bucket, hits, windowMs });
      if (row === undefined) throw new Error("counting requests returned no row");
      return limits.map((_, i) => ({ count: row.count - hits + i + 1, msLeft: row.msLeft }));
    },
    (limit) => Math.max(1, limit),
  );
  return {
    async hit(bucket, limit) {
      const known = exhausted.get(bucket);
      if (known !== undefined) {
        const msLeft = known.endsAt - performance.now();
        // A full window stays full until it ends, whatever the other instances do: no need to ask.
        if (msLeft > 0 && known.limit === limit) return rateLimitResult(limit + 1, limit, msLeft);
        exhausted.delete(bucket);
      }
      const { count, msLeft } = await countOne(bucket, limit);
      if (count > limit) {
        if (exhausted.size >= mostRemembered) exhausted.clear();
        exhausted.set(bucket, { limit, endsAt: performance.now() + msLeft });
      }
      return rateLimitResult(count, limit, msLeft);
    },
  };
}
