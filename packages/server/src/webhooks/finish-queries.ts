import type { DeliveryErrorClass } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import { databaseNow, isOneOf } from "../db/expressions.ts";
import type { WebhookState } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

/** A count that had gone wrong would block an endpoint or flood it; below zero it would do so for ever. */
export function fewerLeases(ended: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when live_leases > ${ended} then live_leases - ${ended} else 0 end`;
}

/**
 * A redelivery that is asked for while an attempt is under way is kept in `retried`, which only the next claim needs.
 * However that attempt ends, the message is then sent anew, with all its retries: even a success may have gone to an
 * address that was corrected in the meantime.
 */
export const REDELIVERY_ASKED = sql.lit(-1);
const isRedeliveryAsked = sql<boolean>`retried < 0`;

/** What `retried` is once the attempt has ended. */
export function retriedOr(otherwise: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`case when ${isRedeliveryAsked} then 0 else ${otherwise} end`;
}

/** SQLite has one writer and needs no lock. */
export const lockEndpoints = statement((q, p: { ids: string }, dialect) => {
  const named = q
    .selectFrom("webhook_endpoint")
    .select(["id", "consecutive_timeouts"])
    .where(isOneOf(dialect, "id", p.ids))
    .orderBy("id");
  return dialect === "postgres" ? named.forUpdate() : named;
});

interface Health {
  id: string;
  /** How many leases have ended. */
  ended: number;
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
      live_leases: fewerLeases(sql`cast(${p.ended} as bigint)`),
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
