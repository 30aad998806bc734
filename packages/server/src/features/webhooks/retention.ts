import { sql } from "#kysely";
import { databaseNow } from "../../db/expressions.ts";
import { statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { firstIdAt } from "../../ids.ts";

const keptMs = 30 * 24 * 60 * 60 * 1000;
const batchSize = 500;

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

const deleteIdleEndpoints = statement((q, p: { keptMs: number }, dialect) =>
  q
    .deleteFrom("webhook_endpoint")
    .where("next_run_at", "is", null)
    .where(sql<boolean>`touched_at < ${databaseNow(dialect)} - cast(${p.keptMs} as bigint)`),
);

/** Deliveries and events are kept for 30 days. */
export async function forgetOldMessages(deps: Pick<Deps, "db" | "now">, signal: AbortSignal): Promise<void> {
  const before = firstIdAt(deps.now() - keptMs);
  while (!signal.aborted) {
    const deleted = await deps.db.run(deleteEndedMessages, { before, take: batchSize });
    if (deleted < batchSize) break;
  }
  await deps.db.run(deleteIdleEndpoints, { keptMs });
}
