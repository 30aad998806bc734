import { DELIVERY_RETENTION_DAYS } from "@upstow/contract";
import { sql } from "#kysely";
import { databaseNow } from "../db/expressions.ts";
import { inSteps } from "../db/in-steps.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt } from "../kernel/ids.ts";

const keptMs = DELIVERY_RETENTION_DAYS * 24 * 60 * 60 * 1000;

/** Attempts go with their message. What still waits to be sent stays, however old. */
const deleteEndedMessages = statement((q, p: { before: string; take: number }) =>
  q
    .deleteFrom("webhook_message")
    .where(
      "id",
      "in",
      q
        .selectFrom("webhook_message")
        .select("id")
        .where("id", "<", p.before)
        .where(sql<boolean>`state in ('recorded', 'delivered', 'dead')`)
        .orderBy("id")
        .limit(p.take),
    ),
);

const deleteIdleEndpoints = statement((q, p: { keptMs: number; take: number }, dialect) => {
  const isIdle = sql<boolean>`next_run_at is null
    and touched_at < ${databaseNow(dialect)} - cast(${p.keptMs} as bigint)`;
  return q
    .deleteFrom("webhook_endpoint")
    .where("id", "in", q.selectFrom("webhook_endpoint").select("id").where(isIdle).limit(p.take))
    .where(isIdle);
});

/** Deliveries and events are kept for 30 days. */
export async function forgetOldMessages(deps: Pick<Deps, "db" | "now">, signal: AbortSignal): Promise<void> {
  const before = firstIdAt(deps.now() - keptMs);
  await inSteps((take) => deps.db.run(deleteEndedMessages, { before, take }), signal);
  await inSteps((take) => deps.db.run(deleteIdleEndpoints, { keptMs, take }), signal);
}
