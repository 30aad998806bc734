import type { Environment } from "@upstow/contract";
import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { Schema, WebhookState } from "../../db/schema.ts";
import { type DialectName, statement } from "../../db/statement.ts";
import { contains } from "../../files/look-through.ts";

interface Span {
  projectId: string;
  environment: Environment;
  /** Id bounds, which sort by creation time: from the first (inclusive) to the second (exclusive). */
  from: string;
  before: string;
}

export interface DeliverySearch extends Span {
  /** The two states of a status, which may be the same; empty for any. */
  state: WebhookState | "";
  orState: WebhookState | "";
  /** These three are empty for any. */
  routeSlug: string;
  url: string;
  /** Part of the file's name, id or key; folded by `foldCase`. */
  text: string;
}

const deliveriesBetween = (q: QueryCreator<Schema>, p: Span) =>
  q
    .selectFrom("webhook_message")
    .where("webhook_message.project_id", "=", p.projectId)
    .where("webhook_message.environment", "=", p.environment)
    .where("webhook_message.id", ">=", p.from)
    .where("webhook_message.id", "<", p.before)
    // A literal, so that the index of deliveries is used.
    .where(sql<boolean>`webhook_message.url is not null`)
    .orderBy("webhook_message.id", "desc");

function matches(p: DeliverySearch, dialect: DialectName): RawBuilder<boolean> {
  return sql<boolean>`(cast(${p.state} as text) = '' or state in (${p.state}, ${p.orState}))
    and (cast(${p.routeSlug} as text) = '' or route_slug = ${p.routeSlug})
    and (cast(${p.url} as text) = '' or url = ${p.url})
    and (cast(${p.text} as text) = '' or ${contains(dialect, "body", p.text)})`;
}

export const measureDeliveries = statement((q, p: Span & { rows: number }) =>
  q
    .selectFrom(
      deliveriesBetween(q, p)
        .select(["webhook_message.id as id", sql<number>`octet_length(body)`.as("bytes")])
        .limit(p.rows)
        .as("newest"),
    )
    .select([
      sql<string | null>`min(id)`.as("id"),
      sql<number>`count(*)`.as("count"),
      sql<number>`coalesce(sum(bytes), 0)`.as("bytes"),
    ]),
);

const lastAttempt = ["last.status_code", "last.error", "last.duration_ms"] as const;

/** Each with its last attempt. */
export const searchDeliveries = statement((q, p: DeliverySearch & { take: number }, dialect) =>
  deliveriesBetween(q, p)
    .leftJoin("webhook_attempt as last", (join) =>
      join
        .onRef("last.message_id", "=", "webhook_message.id")
        .onRef("last.number", "=", "webhook_message.attempt_count"),
    )
    .select([
      "webhook_message.id as id",
      "event",
      "file_id",
      "route_slug",
      "url",
      "state",
      "attempt_count",
      "run_at",
      "created_at",
      "body",
      ...lastAttempt,
    ])
    .where(matches(p, dialect))
    .limit(p.take),
);

/** How the newest deliveries of each URL ended, by day. Sums of time exclude attempts in progress. */
export const measureEndpoints = statement((q, p: Span & { rows: number; dayMs: number }) =>
  q
    .selectFrom(
      deliveriesBetween(q, p)
        .leftJoin("webhook_attempt as last", (join) =>
          join
            .onRef("last.message_id", "=", "webhook_message.id")
            .onRef("last.number", "=", "webhook_message.attempt_count"),
        )
        .select(["url", "state", "created_at", "last.duration_ms as duration_ms"])
        .select(sql<number>`(created_at - created_at % ${p.dayMs})`.as("day"))
        .limit(p.rows)
        .as("newest"),
    )
    .select([
      "url",
      "day",
      sql<number>`count(*)`.as("total"),
      sql<number>`sum(case when state = 'delivered' then 1 else 0 end)`.as("delivered"),
      sql<number>`sum(case when state = 'dead' then 1 else 0 end)`.as("failed"),
      sql<number>`count(duration_ms)`.as("timed"),
      sql<number>`coalesce(sum(duration_ms), 0)`.as("timeMs"),
      sql<number>`max(created_at)`.as("lastAt"),
    ])
    .groupBy(["url", "day"])
    .orderBy("url")
    .orderBy("day")
    .limit(p.rows),
);
