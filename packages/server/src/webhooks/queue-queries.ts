import type { DeliveryErrorClass } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import type { WebhookState } from "../db/schema.ts";
import { databaseNow, isOneOf, statement } from "../db/statement.ts";

// States are written as literals in all queries: with parameters, SQLite would not use the partial indexes.

export const ENDPOINTS_PER_TURN = 32;
export const TIMEOUTS_UNTIL_FAILING = 5;
/** Attempts at the same time, from all instances together. */
export const ENDPOINT_CAP = 8;
const failingEndpointCap = 1;

const cap = sql<number>`case when consecutive_timeouts >= ${sql.lit(TIMEOUTS_UNTIL_FAILING)}
  then ${sql.lit(failingEndpointCap)} else ${sql.lit(ENDPOINT_CAP)} end`;

/**
 * Until the end of the transaction, no other instance claims for this endpoint. Not a lock of its row: uploads and
 * finished attempts change that, and would wait for all round trips of the claim.
 */
const isClaimedByNobody = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(id, 0))`;

/** The endpoints that have waited longest. On PostgreSQL, those that other instances are claiming for are passed over. */
export const takeDueEndpoints = statement((q, _: object, dialect) => {
  const listFirst = (count: number) =>
    q
      .selectFrom("webhook_endpoint")
      .select("id")
      .where("next_run_at", "<=", databaseNow(dialect))
      .orderBy("next_run_at")
      .limit(count);
  if (dialect === "sqlite") return listFirst(ENDPOINTS_PER_TURN);
  // The limit within keeps PostgreSQL from locking endpoints before it knows that they are due.
  const due = listFirst(4 * ENDPOINTS_PER_TURN).as("due");
  return q.selectFrom(due).select("id").where(isClaimedByNobody).limit(ENDPOINTS_PER_TURN);
});

/** The named ones among those that have something to send, due or pausing. */
export const takePausedEndpoints = statement((q, p: { ids: string }, dialect) => {
  const named = q
    .selectFrom("webhook_endpoint")
    .select("id")
    .where(isOneOf(dialect, "id", p.ids))
    .where("next_run_at", "is not", null)
    .limit(ENDPOINTS_PER_TURN);
  return dialect === "sqlite"
    ? named
    : q.selectFrom(named.as("paused")).select("id").where(isClaimedByNobody);
});

/** Only after they were taken: until then, another instance may have been claiming for them. */
export const readEndpoints = statement((q, p: { ids: string }, dialect) =>
  q
    .selectFrom("webhook_endpoint")
    .select(["id", "next_run_at", sql<number>`${cap} - live_leases`.as("room")])
    .where(isOneOf(dialect, "id", p.ids)),
);

/** Skips messages that are being redelivered, because the redelivery wakes the endpoint. */
export const listDue = statement((q, p: { endpointId: string; take: number }, dialect) => {
  const due = q
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
    .limit(p.take);
  return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
});

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
    // Not by state, or PostgreSQL might scan the index of everything that is ready.
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

/** For a lease outside the queue. */
export const countLease = statement((q, p: { id: string }) =>
  q.updateTable("webhook_endpoint").set({ live_leases: sql`live_leases + 1` }).where("id", "=", p.id),
);

/**
 * Sent right before `requeueEndpoint`, which then sees every message whose transaction has changed or locked the row
 * before: a statement that waits for a row itself does not look at other tables again. SQLite has one writer.
 */
export const lockEndpoints = statement((q, p: { ids: string }) =>
  q
    .selectFrom("webhook_endpoint")
    .select("id")
    .where(isOneOf("postgres", "id", p.ids))
    .orderBy("id")
    .forUpdate(),
);

interface Served {
  id: string;
  taken: number;
  leaseMs: number;
  pauseMs: number;
}

/**
 * When to check an endpoint again after it was served: when its next message is due or, if more is due already, after
 * `pauseMs`, behind all endpoints that were waiting before. At its cap it is checked when an attempt ends, or a lease.
 */
export const requeueEndpoint = statement((q, p: Served, dialect) => {
  const now = databaseNow(dialect);
  const next = sql`(select min(run_at) from webhook_message
      where endpoint_id = webhook_endpoint.id and state = 'ready')`;
  const leases = sql<number>`live_leases + cast(${p.taken} as bigint)`;
  const isFull = sql<boolean>`${leases} >= ${cap}`;
  return q
    .updateTable("webhook_endpoint")
    .set({
      live_leases: leases,
      next_run_at: sql`case
        when ${next} > ${now} then ${next}
        when ${next} is null then null
        when ${isFull} then ${inMs(now, p.leaseMs)}
        else ${inMs(now, p.pauseMs)} end`,
      has_backlog: sql`case when ${next} <= ${now} and ${isFull} then 1 else 0 end`,
      touched_at: now,
    })
    .where("id", "=", p.id);
});

function inMs(now: RawBuilder<number>, ms: number): RawBuilder<number> {
  return sql<number>`${now} + cast(${ms} as bigint)`;
}

/** A wrong count would block or flood an endpoint; below zero, forever. */
export function fewerLeases(ended: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when live_leases > ${ended} then live_leases - ${ended} else 0 end`;
}

/**
 * A redelivery requested during an attempt is recorded in `retried`, which only the next claim needs. However that
 * attempt ends, the message is then sent again with all its retries: even a success may have gone to a URL that was
 * corrected in the meantime.
 */
export const REDELIVERY_ASKED = sql.lit(-1);
const isRedeliveryAsked = sql<boolean>`retried < 0`;

/** What `retried` is once the attempt has ended. */
export function retriedOr(otherwise: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when ${isRedeliveryAsked} then 0 else ${otherwise} end`;
}

export interface Health {
  id: string;
  /** The number of leases that have ended. */
  ended: number;
  /** Timeouts since the last response, or since before if there was none. */
  timeouts: number;
  /** 1 if there was a response, or another failure. */
  hasResponded: number;
  /** Until the earliest of the new retries; -1 when there is none. */
  delayMs: number;
}

/** After attempts have ended: messages held back for lack of room may continue. */
export const updateHealth = statement((q, p: Health, dialect) => {
  const now = databaseNow(dialect);
  const delay = sql`cast(${p.delayMs} as bigint)`;
  return q
    .updateTable("webhook_endpoint")
    .set({
      live_leases: fewerLeases(sql`cast(${p.ended} as bigint)`),
      consecutive_timeouts: sql<number>`case when ${p.hasResponded} = 1 then 0 else consecutive_timeouts end
        + cast(${p.timeouts} as bigint)`,
      next_run_at: sql`case
        when has_backlog = 1 then ${now}
        when ${delay} < 0 then next_run_at
        when next_run_at < ${now} + ${delay} then next_run_at
        else ${now} + ${delay} end`,
      has_backlog: 0,
    })
    .where("id", "=", p.id)
    .returning(["id", "consecutive_timeouts"]);
});

interface FinishedMessage {
  id: string;
  token: string;
  state: WebhookState;
  retried: number;
  delayMs: number;
}

/** The token is the guard: a worker that lost its lease changes nothing. */
export const finishMessage = statement((q, p: FinishedMessage, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: sql<WebhookState>`case when ${isRedeliveryAsked} then 'ready' else ${p.state} end`,
      retried: retriedOr(sql`cast(${p.retried} as bigint)`),
      interruptions: 0,
      run_at: sql`${databaseNow(dialect)}
        + case when ${isRedeliveryAsked} then 0 else cast(${p.delayMs} as bigint) end`,
      lease_until: null,
      lease_token: null,
    })
    .where("id", "=", p.id)
    .where("lease_token", "=", p.token)
    .returning(["state", "retried"]),
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

const isLeased = sql<boolean>`state = 'leased'`;

/** For an idle dispatcher: milliseconds until something is due, and until the first lease expires. */
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
      "body",
      "endpoint_id",
      "lease_token",
      "attempt_count",
      "interruptions",
    ])
    .where(isLeased)
    .where("lease_until", "<", databaseNow(dialect))
    .orderBy("lease_until")
    .limit(p.take),
);

interface EndedLease {
  id: string;
  token: string;
  delayMs: number;
}

/** The lease may have been finished since it was read; then nothing changes. */
export const endLease = statement((q, p: EndedLease, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: "ready",
      retried: retriedOr(sql.ref("retried")),
      interruptions: sql`interruptions + 1`,
      run_at: sql`${databaseNow(dialect)} + cast(${p.delayMs} as bigint)`,
      lease_until: null,
      lease_token: null,
    })
    .where("id", "=", p.id)
    .where("lease_token", "=", p.token)
    .where("lease_until", "<", databaseNow(dialect)),
);

/** Messages held back by the lease may continue. */
export const releaseEndpoint = statement((q, p: { id: string }, dialect) =>
  q
    .updateTable("webhook_endpoint")
    .set({ live_leases: fewerLeases(sql.lit(1)), next_run_at: databaseNow(dialect), has_backlog: 0 })
    .where("id", "=", p.id),
);

export const markInterrupted = statement((q, p: { messageId: string; number: number }) =>
  q
    .updateTable("webhook_attempt")
    .set({ error: "interrupted" })
    .where("message_id", "=", p.messageId)
    .where("number", "=", p.number),
);
