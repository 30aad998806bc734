import type { DeliveryErrorClass } from "@upstow/contract";
import { Counter, type Registry } from "prom-client";
import { type RawBuilder, sql } from "#kysely";
import type { Database } from "../db/database.ts";
import { databaseNow, statement } from "../db/statement.ts";
import { exposeForAll } from "../http/metrics.ts";
import { TIMEOUTS_UNTIL_FAILING } from "./queue-queries.ts";

export interface WebhookMetrics {
  countAttempt(error: DeliveryErrorClass | null): void;
}

/** Counting more would take longer than a scrape should. */
const mostCounted = 100_000;
const countUpTo = (rows: RawBuilder<unknown>) =>
  sql<number>`(select count(*) from (select 1 ${rows} limit ${mostCounted}) as counted)`;

export const measureQueue = statement((q, p: { timeouts: number }, dialect) =>
  q.selectNoFrom([
    countUpTo(sql`from webhook_message where state = 'ready'`).as("ready"),
    countUpTo(sql`from webhook_message where state = 'leased'`).as("leased"),
    sql<number>`coalesce((select ${databaseNow(dialect)} - min(run_at) from webhook_message where state = 'ready'), 0)`.as(
      "oldestMs",
    ),
    countUpTo(sql`from webhook_endpoint where consecutive_timeouts >= cast(${p.timeouts} as bigint)`).as(
      "failing",
    ),
  ]),
);

/** The queue is measured on demand, with one query over its own indexes for all gauges. */
export function createWebhookMetrics(
  registry: Registry,
  db: Database,
  isSpeaker: () => Promise<boolean>,
): WebhookMetrics {
  const measure = () => db.get(measureQueue, { timeouts: TIMEOUTS_UNTIL_FAILING });
  exposeForAll(registry, isSpeaker, measure, [
    {
      name: "upstow_webhook_queue_depth",
      help: "Messages waiting or being sent.",
      labelNames: ["state"],
      show(gauge, { ready, leased }) {
        gauge.set({ state: "ready" }, ready);
        gauge.set({ state: "leased" }, leased);
      },
    },
    {
      name: "upstow_webhook_oldest_due_seconds",
      help: "Age of the oldest due message.",
      show: (gauge, { oldestMs }) => gauge.set(Math.max(0, oldestMs) / 1000),
    },
    {
      name: "upstow_webhook_failing_endpoints",
      help: "Endpoints whose last attempts all timed out; they are sent one message at a time.",
      show: (gauge, { failing }) => gauge.set(failing),
    },
  ]);
  const attempts = new Counter({
    name: "upstow_webhook_attempts_total",
    help: "Webhook attempts by outcome: delivered, or the class of the failure.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  return {
    countAttempt(error) {
      attempts.inc({ outcome: error ?? "delivered" });
    },
  };
}
