import { type Environment, LIST_MAX, SHORT_LIST_MAX } from "@upstow/contract";
import { type QueryCreator, sql } from "#kysely";
import { packRows } from "../db/packed-rows.ts";
import type { Schema, WebhookMessageRow } from "../db/schema.ts";
import { databaseNow, isOneOf, statement } from "../db/statement.ts";
import { REDELIVERY_ASKED } from "./queue-queries.ts";

interface Owned {
  projectId: string;
  environment: Environment;
}

export interface DeliverySpan extends Owned {
  /** Id bounds, which sort by creation time: from the first (inclusive) to the second (exclusive). */
  from: string;
  before: string;
}

const deliveryColumns = [
  "id",
  "event",
  "file_id",
  "route_slug",
  "url",
  "state",
  "attempt_count",
  "run_at",
  "created_at",
] as const;

// Literals, so that SQLite can use the partial index.
const indexed = {
  any: sql<boolean>`url is not null`,
  dead: sql<boolean>`state = 'dead'`,
};

function deliveriesIn(q: QueryCreator<Schema>, p: DeliverySpan, index: keyof typeof indexed) {
  return q
    .selectFrom("webhook_message")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("id", ">=", p.from)
    .where("id", "<", p.before)
    .where(indexed[index]);
}

function createList(index: keyof typeof indexed) {
  return statement((q, p: DeliverySpan & { take: number }) =>
    deliveriesIn(q, p, index).select(deliveryColumns).orderBy("id", "desc").limit(p.take),
  );
}

/** Newest first. Other conditions are tested by the caller, so that no statement reads more rows than it returns. */
export const listDeliveries = { any: createList("any"), dead: createList("dead") };

/** A file has few messages, so they are found by its id instead of scanning the project's. */
export const listDeliveriesOfFile = statement((q, p: Owned & { fileId: string }) =>
  q
    .selectFrom("webhook_message")
    .select(deliveryColumns)
    .where("file_id", "=", p.fileId)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("url", "is not", null)
    .orderBy("id", "desc")
    .limit(LIST_MAX),
);

export const findDelivery = statement((q, p: Owned & { id: string }) =>
  q
    .selectFrom("webhook_message")
    .select([...deliveryColumns, "body"])
    .where("id", "=", p.id)
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("url", "is not", null),
);

/** The latest first. Every redelivery adds some, each with up to 16 KiB of the response. */
export const listAttempts = statement((q, p: { messageId: string }) =>
  q
    .selectFrom("webhook_attempt")
    .selectAll()
    .where("message_id", "=", p.messageId)
    .orderBy("number", "desc")
    .limit(SHORT_LIST_MAX),
);

const targetColumns = ["id", "route_slug", "url", "endpoint_id", "state"] as const;

function createTargets(index: keyof typeof indexed) {
  return statement((q, p: DeliverySpan & { take: number }) =>
    deliveriesIn(q, p, index).select(targetColumns).orderBy("id").limit(p.take),
  );
}

/** Oldest first, to resend them in the order in which they happened. */
export const listTargets = { any: createTargets("any"), dead: createTargets("dead") };

export const listTargetsById = statement((q, p: Owned & { ids: string }, dialect) =>
  q
    .selectFrom("webhook_message")
    .select(targetColumns)
    .where(isOneOf(dialect, "id", p.ids))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("url", "is not", null)
    .orderBy("id"),
);

const isLeased = sql<boolean>`state = 'leased'`;

interface Redelivery {
  ids: string;
  url: string;
  endpointId: string;
  retriesAllowed: number;
}

/** SQLite has one writer and needs no lock. */
export const lockMessages = statement((q, p: { ids: string }, dialect) => {
  const named = q
    .selectFrom("webhook_message")
    .select("id")
    .where(isOneOf(dialect, "id", p.ids))
    .orderBy("id");
  return dialect === "postgres" ? named.forUpdate() : named;
});

/**
 * A message being sent right now is queued again afterwards. It keeps the endpoint that counts its lease, even if its
 * URL has changed.
 */
export const requeueMessages = statement((q, p: Redelivery, dialect) =>
  q
    .updateTable("webhook_message")
    .set({
      state: sql`case when ${isLeased} then 'leased' else 'ready' end`,
      url: p.url,
      endpoint_id: sql`case when ${isLeased} then endpoint_id else ${p.endpointId} end`,
      retried: sql`case when ${isLeased} then ${REDELIVERY_ASKED} else 0 end`,
      retries_allowed: p.retriesAllowed,
      interruptions: 0,
      run_at: databaseNow(dialect),
    })
    .where(isOneOf(dialect, "id", p.ids)),
);

/** Its row stays locked until the commit, so numbers are committed in order. Send it with the commit. */
export const advanceSequence = statement(
  (q, p: { projectId: string; environment: Environment; count: number }) =>
    q
      .insertInto("event_sequence")
      .values({ project_id: p.projectId, environment: p.environment, last_seq: p.count })
      .onConflict((conflict) =>
        conflict
          .columns(["project_id", "environment"])
          .doUpdateSet({ last_seq: sql`event_sequence.last_seq + excluded.last_seq` }),
      ),
);

export type NewMessage = Pick<
  WebhookMessageRow,
  | "id"
  | "project_id"
  | "environment"
  | "event"
  | "file_id"
  | "route_slug"
  | "body"
  | "url"
  | "endpoint_id"
  | "state"
  | "retries_allowed"
  | "created_at"
>;

/**
 * Uses one of the numbers that `advanceSequence` just reserved, `from_last` before the last; does nothing if the event
 * already exists.
 */
export const insertMessage = statement((q, p: NewMessage & { from_last: number }, dialect) =>
  q
    .insertInto("webhook_message")
    .values({
      id: p.id,
      project_id: p.project_id,
      environment: p.environment,
      seq: q
        .selectFrom("event_sequence")
        .select(sql<number>`last_seq - cast(${p.from_last} as bigint)`.as("seq"))
        .where("project_id", "=", p.project_id)
        .where("environment", "=", p.environment),
      event: p.event,
      file_id: p.file_id,
      route_slug: p.route_slug,
      body: p.body,
      url: p.url,
      endpoint_id: p.endpoint_id,
      state: p.state,
      attempt_count: 0,
      retried: 0,
      retries_allowed: p.retries_allowed,
      interruptions: 0,
      run_at: databaseNow(dialect),
      lease_until: null,
      lease_token: null,
      created_at: p.created_at,
    })
    .onConflict((conflict) => conflict.columns(["file_id", "event"]).doNothing()),
);

export const packedMessages = packRows<NewMessage & { from_last: number }>({
  id: "text",
  from_last: "bigint",
  event: "text",
  file_id: "text",
  route_slug: "text",
  body: "text",
  url: "text",
  endpoint_id: "text",
  state: "text",
  retries_allowed: "bigint",
  created_at: "bigint",
});

/** The same for all messages of a transaction: on a server, what a statement costs is more than a row. */
export const insertMessages = statement((q, p: Owned & { rows: string }) => {
  const lastSeq = q
    .selectFrom("event_sequence")
    .select("last_seq")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment);
  return q
    .insertInto("webhook_message")
    .columns([
      "id",
      "project_id",
      "environment",
      "seq",
      "event",
      "file_id",
      "route_slug",
      "body",
      "url",
      "endpoint_id",
      "state",
      "attempt_count",
      "retried",
      "retries_allowed",
      "interruptions",
      "run_at",
      "created_at",
    ])
    .expression(
      sql`select id, ${p.projectId}, ${p.environment}, ${lastSeq} - from_last, event, file_id, route_slug, body, url,
        endpoint_id, state, 0, 0, retries_allowed, 0, ${databaseNow("postgres")}, created_at
        from (${packedMessages.unpack(p.rows)}) as message`,
    )
    .onConflict((conflict) => conflict.columns(["file_id", "event"]).doNothing());
});

/**
 * Schedules a check of the endpoint for now. One that is already waiting for a check is only locked, so that the one
 * who is checking it sees the new message or is followed by another check.
 */
export const wakeEndpoint = statement((q, p: { id: string }, dialect) => {
  const now = databaseNow(dialect);
  return (
    q
      .insertInto("webhook_endpoint")
      .values({
        id: p.id,
        live_leases: 0,
        consecutive_timeouts: 0,
        next_run_at: now,
        has_backlog: 0,
        touched_at: now,
      })
      // At its cap, the endpoint is checked when an attempt ends; sooner, there would be no room.
      .onConflict((conflict) =>
        conflict
          .column("id")
          .doUpdateSet({ next_run_at: now, touched_at: now })
          .where(
            sql<boolean>`webhook_endpoint.has_backlog = 0
              and (webhook_endpoint.next_run_at is null or webhook_endpoint.next_run_at > ${now})`,
          ),
      )
  );
});
