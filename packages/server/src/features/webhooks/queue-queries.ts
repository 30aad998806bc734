import type { DeliveryErrorClass } from "@upstow/contract";
import { type RawBuilder, sql } from "kysely";
import { databaseNow } from "../../db/expressions.ts";
import type { WebhookState } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { idIsOneOf } from "./id-is-one-of.ts";

// States are written as literals: with parameters, SQLite would not use the partial indexes.
const isReady = sql<boolean>`state = 'ready'`;
const isLeased = sql<boolean>`state = 'leased'`;

/** The endpoints that have waited longest. On PostgreSQL other instances pass over those taken here. */
export const takeDueEndpoints = statement((q, p: { take: number }, dialect) => {
  const due = q
    .selectFrom("webhook_endpoint")
    .select(["id", "consecutive_timeouts"])
    .where("next_run_at", "<=", databaseNow(dialect))
    .orderBy("next_run_at")
    .limit(p.take);
  return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
});

export const countLeases = statement((q, _: object) =>
  q
    .selectFrom("webhook_message")
    .select(["endpoint_id", "project_id", sql<number>`count(*)`.as("count")])
    .where(isLeased)
    .groupBy(["endpoint_id", "project_id"]),
);

export const listDue = statement((q, p: { endpointId: string; take: number }, dialect) =>
  q
    .selectFrom("webhook_message")
    .select([
      "id",
      "project_id",
      "environment",
      "event",
      "file_id",
      "route_slug",
      "body",
      "url",
      "endpoint_id",
      "attempt_count",
      "retried",
      "retries_allowed",
    ])
    .where("endpoint_id", "=", p.endpointId)
    .where(isReady)
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
    .where(idIsOneOf(dialect, p.ids))
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
        .where(idIsOneOf(dialect, p.ids)),
    ),
);

/**
 * Says when to look at an endpoint again after it was served: when its next message is due; if more is due
 * already, after `pauseMs`, behind everybody who waits since before.
 */
export const requeueEndpoint = statement((q, p: { id: string; isFull: number; pauseMs: number }, dialect) => {
  const now = databaseNow(dialect);
  const next = sql`(select min(run_at) from webhook_message
      where endpoint_id = webhook_endpoint.id and state = 'ready')`;
  return q
    .updateTable("webhook_endpoint")
    .set({
      next_run_at: sql`case when ${next} <= ${now} then ${inMs(now, p.pauseMs)} else ${next} end`,
      has_backlog: sql`case when ${next} <= ${now} then cast(${p.isFull} as bigint) else 0 end`,
      touched_at: now,
    })
    .where("id", "=", p.id);
});

/** SQLite has one writer and needs no lock. */
export const lockEndpoints = statement((q, p: { ids: string }, dialect) => {
  const named = q
    .selectFrom("webhook_endpoint")
    .select(["id", "consecutive_timeouts", "has_backlog"])
    .where(idIsOneOf(dialect, p.ids))
    .orderBy("id");
  return dialect === "postgres" ? named.forUpdate() : named;
});

interface Health {
  id: string;
  consecutiveTimeouts: number;
  /** Until the earliest of the new retries; -1 when there is none. */
  delayMs: number;
}

/** After attempts have ended: what was held back for lack of room may go on. */
export const updateHealth = statement((q, p: Health, dialect) => {
  const now = databaseNow(dialect);
  const delay = sql`cast(${p.delayMs} as bigint)`;
  return q
    .updateTable("webhook_endpoint")
    .set({
      consecutive_timeouts: p.consecutiveTimeouts,
      next_run_at: sql`case
        when has_backlog = 1 then ${now}
        when ${delay} < 0 then next_run_at
        when next_run_at < ${now} + ${delay} then next_run_at
        else ${now} + ${delay} end`,
      has_backlog: 0,
    })
    .where("id", "=", p.id);
});

interface FinishedMessage {
  id: string;
  token: string;
  state: WebhookState;
  retried: number;
  delayMs: number;
}

/** The token is the guard: a worker whose lease went to another changes nothing. */
export const finishMessage = statement((q, p: FinishedMessage, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: p.state,
      retried: p.retried,
      interruptions: 0,
      run_at: sql`${databaseNow(dialect)} + cast(${p.delayMs} as bigint)`,
      lease_until: null,
      lease_token: null,
    })
    .where("id", "=", p.id)
    .where("lease_token", "=", p.token)
    .where(isLeased),
);

interface FinishedAttempt {
  messageId: string;
  number: number;
  durationMs: number;
  statusCode: number | null;
  error: DeliveryErrorClass | null;
  response: string | null;
}

export const finishAttemptRow = statement((q, p: FinishedAttempt) =>
  q
    .updateTable("webhook_attempt")
    .set({
      duration_ms: p.durationMs,
      status_code: p.statusCode,
      error: p.error,
      response: p.response,
    })
    .where("message_id", "=", p.messageId)
    .where("number", "=", p.number),
);

/** For an idle dispatcher: milliseconds until something is due, and until the first lease runs out. */
export const findNextWork = statement((q, _: object, dialect) => {
  const now = databaseNow(dialect);
  return q.selectNoFrom([
    sql<
      number | null
    >`(select min(next_run_at) - ${now} from webhook_endpoint where next_run_at is not null)`.as("dueInMs"),
    sql<number | null>`(select min(lease_until) - ${now} from webhook_message where state = 'leased')`.as(
      "leaseEndsInMs",
    ),
  ]);
});

export const listExpiredLeases = statement((q, p: { take: number }, dialect) =>
  q
    .selectFrom("webhook_message")
    .select([
      "id",
      "project_id",
      "environment",
      "event",
      "file_id",
      "body",
      "endpoint_id",
      "lease_token",
      "attempt_count",
      "interruptions",
    ])
    .where(isLeased)
    .where("lease_until", "<", databaseNow(dialect))
    .orderBy("endpoint_id")
    .limit(p.take),
);

/** The lease may have been finished since it was read; then nothing changes. */
export const endLease = statement((q, p: { id: string; token: string; state: WebhookState }, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: p.state,
      interruptions: sql`interruptions + 1`,
      run_at: databaseNow(dialect),
      lease_until: null,
      lease_token: null,
    })
    .where("id", "=", p.id)
    .where("lease_token", "=", p.token)
    .where("lease_until", "<", databaseNow(dialect))
    .where(isLeased),
);

/** What the lease held back may go on. */
export const releaseEndpoint = statement((q, p: { id: string }, dialect) =>
  q
    .updateTable("webhook_endpoint")
    .set({ next_run_at: databaseNow(dialect), has_backlog: 0 })
    .where("id", "=", p.id),
);

export const markInterrupted = statement((q, p: { messageId: string; number: number }) =>
  q
    .updateTable("webhook_attempt")
    .set({ error: "interrupted" })
    .where("message_id", "=", p.messageId)
    .where("number", "=", p.number),
);

function inMs(now: RawBuilder<number>, ms: number): RawBuilder<number> {
  return sql<number>`${now} + cast(${ms} as bigint)`;
}
