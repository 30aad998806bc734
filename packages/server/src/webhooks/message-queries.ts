import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { databaseNow } from "../db/expressions.ts";
import type { WebhookMessageTable } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

/** Its row stays locked until the commit, so numbers are committed in their order. */
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
  WebhookMessageTable,
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
 * Takes one of the numbers that `advanceSequence` just made, `fromLast` before the last of them; does nothing where the
 * event is already there.
 */
export const insertMessage = statement((q, p: NewMessage & { fromLast: number }, dialect) =>
  q
    .insertInto("webhook_message")
    .values({
      id: p.id,
      project_id: p.project_id,
      environment: p.environment,
      seq: q
        .selectFrom("event_sequence")
        .select(sql<number>`last_seq - cast(${p.fromLast} as bigint)`.as("seq"))
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

/** Has the endpoint looked at now, or earlier than now where it already waits. */
export const wakeEndpoint = statement((q, p: { id: string }, dialect) => {
  const now = databaseNow(dialect);
  return q
    .insertInto("webhook_endpoint")
    .values({
      id: p.id,
      live_leases: 0,
      consecutive_timeouts: 0,
      next_run_at: now,
      has_backlog: 0,
      touched_at: now,
    })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({
        // At its cap the endpoint is looked at when an attempt ends; looking sooner would find no room.
        next_run_at: sql`case
          when webhook_endpoint.has_backlog = 1 then webhook_endpoint.next_run_at
          when webhook_endpoint.next_run_at < ${now} then webhook_endpoint.next_run_at
          else ${now} end`,
        touched_at: now,
      }),
    );
});
