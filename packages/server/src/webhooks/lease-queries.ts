import { sql } from "#kysely";
import { databaseNow } from "../db/expressions.ts";
import { statement } from "../db/statement.ts";
import { fewerLeases, retriedOr } from "./finish-queries.ts";

const isLeased = sql<boolean>`state = 'leased'`;

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

/** What the lease held back may go on. */
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
