import { type DeliveryStatus, type Environment, LIST_MAX, SHORT_LIST_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import { databaseNow, isOneOf } from "../db/expressions.ts";
import { statement } from "../db/statement.ts";
import { REDELIVERY_ASKED } from "./finish-queries.ts";

interface Owned {
  projectId: string;
  environment: Environment;
}

export interface DeliveryFilter extends Owned {
  /** Bounds of the ids, which sort by creation: from the first, before the second. */
  from: string;
  before: string;
  routeSlug: string | null;
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

// Literals, so that SQLite sees which partial index serves a status.
const withStatus = {
  any: sql<boolean>`url is not null`,
  pending: sql<boolean>`url is not null and state in ('ready', 'leased')`,
  delivered: sql<boolean>`url is not null and state = 'delivered'`,
  dead: sql<boolean>`state = 'dead'`,
} satisfies Record<DeliveryStatus | "any", unknown>;

function matches(p: DeliveryFilter, status: DeliveryStatus | "any") {
  return sql<boolean>`project_id = ${p.projectId} and environment = ${p.environment}
    and id >= ${p.from} and id < ${p.before} and ${withStatus[status]}
    and (cast(${p.routeSlug} as text) is null or route_slug = ${p.routeSlug})`;
}

function createList(status: DeliveryStatus | "any") {
  return statement((q, p: DeliveryFilter & { take: number }) =>
    q
      .selectFrom("webhook_message")
      .select(deliveryColumns)
      .where(matches(p, status))
      .orderBy("id", "desc")
      .limit(p.take),
  );
}

export const listDeliveries = {
  any: createList("any"),
  pending: createList("pending"),
  delivered: createList("delivered"),
  dead: createList("dead"),
};

/** A file has few messages: they are found by its id, not by reading through the project's. */
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

function createCount(status: DeliveryStatus | "any") {
  return statement((q, p: DeliveryFilter) =>
    q.selectFrom("webhook_message").select(sql<number>`count(*)`.as("count")).where(matches(p, status)),
  );
}

export const countDeliveries = {
  any: createCount("any"),
  pending: createCount("pending"),
  delivered: createCount("delivered"),
  dead: createCount("dead"),
};

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

const targetColumns = ["id", "route_slug", "url", "endpoint_id"] as const;

function createTargets(status: DeliveryStatus | "any") {
  return statement((q, p: DeliveryFilter & { take: number }) =>
    q
      .selectFrom("webhook_message")
      .select(targetColumns)
      .where(matches(p, status))
      .orderBy("id")
      .limit(p.take),
  );
}

/** Oldest first, to send them again in the order in which they happened. */
export const listTargets = {
  any: createTargets("any"),
  pending: createTargets("pending"),
  delivered: createTargets("delivered"),
  dead: createTargets("dead"),
};

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

/**
 * What is being sent at this moment follows when that has ended. It keeps the endpoint that counts its lease, even
 * where its URL is another now.
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
