import { type RawBuilder, sql } from "#kysely";
import { databaseNow, isOneOf } from "../db/expressions.ts";
import { statement } from "../db/statement.ts";

// States are written as literals in all queries: with parameters, SQLite would not use the partial indexes.

/** The endpoints that have waited longest. On PostgreSQL other instances pass over those taken here. */
export const takeDueEndpoints = statement((q, p: { take: number }, dialect) => {
  const due = q
    .selectFrom("webhook_endpoint")
    .select(["id", "live_leases", "consecutive_timeouts", "next_run_at as due_since"])
    .where("next_run_at", "<=", databaseNow(dialect))
    .orderBy("next_run_at")
    .limit(p.take);
  return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
});

/** The named ones among those that have something to send, due or pausing. */
export const takePausedEndpoints = statement((q, p: { ids: string; projectPauseMs: number }, dialect) => {
  const dueSince = sql<number | null>`next_run_at - cast(${p.projectPauseMs} as bigint)`;
  const named = q
    .selectFrom("webhook_endpoint")
    .select(["id", "live_leases", "consecutive_timeouts", dueSince.as("due_since")])
    .where(isOneOf(dialect, "id", p.ids))
    .where("next_run_at", "is not", null);
  return dialect === "postgres" ? named.forUpdate().skipLocked() : named;
});

export const listDue = statement((q, p: { endpointId: string; take: number }, dialect) =>
  q
    .selectFrom("webhook_message")
    .select([
      "id",
      "project_id",
      "environment",
      "event",
      "route_slug",
      "body",
      "url",
      "endpoint_id",
      "attempt_count",
      "retried",
      "retries_allowed",
    ])
    .where("endpoint_id", "=", p.endpointId)
    .where(sql<boolean>`state = 'ready'`)
    .where("run_at", "<=", databaseNow(dialect))
    .orderBy("run_at")
    .orderBy("id")
    .limit(p.take),
);

export const leaseMessages = statement((q, p: { ids: string; token: string; leaseMs: number }, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: "leased",
      lease_token: p.token,
      lease_until: inMs(databaseNow(dialect), p.leaseMs),
      attempt_count: sql`attempt_count + 1`,
    })
    .where(isOneOf(dialect, "id", p.ids))
    // Not by state: that would invite PostgreSQL to read the index of everything that is ready.
    .where("lease_token", "is", null),
);

export const insertAttempts = statement((q, p: { ids: string }, dialect) =>
  q
    .insertInto("webhook_attempt")
    .columns(["message_id", "number", "started_at"])
    .expression(
      q
        .selectFrom("webhook_message")
        .select(["id", "attempt_count", databaseNow(dialect).as("started_at")])
        .where(isOneOf(dialect, "id", p.ids)),
    ),
);

/** For a lease that is made beside the queue. */
export const countLease = statement((q, p: { id: string }) =>
  q.updateTable("webhook_endpoint").set({ live_leases: sql`live_leases + 1` }).where("id", "=", p.id),
);

interface Served {
  id: string;
  taken: number;
  isFull: number;
  pauseMs: number;
}

/**
 * Says when to look at an endpoint again after it was served: when its next message is due; if more is due
 * already, after `pauseMs`, behind everybody who waits since before.
 */
export const requeueEndpoint = statement((q, p: Served, dialect) => {
  const now = databaseNow(dialect);
  const next = sql`(select min(run_at) from webhook_message
      where endpoint_id = webhook_endpoint.id and state = 'ready')`;
  return q
    .updateTable("webhook_endpoint")
    .set({
      live_leases: sql`live_leases + cast(${p.taken} as bigint)`,
      next_run_at: sql`case when ${next} <= ${now} then ${inMs(now, p.pauseMs)} else ${next} end`,
      has_backlog: sql`case when ${next} <= ${now} then cast(${p.isFull} as bigint) else 0 end`,
      touched_at: now,
    })
    .where("id", "=", p.id);
});

function inMs(now: RawBuilder<number>, ms: number): RawBuilder<number> {
  return sql<number>`${now} + cast(${ms} as bigint)`;
}
