import { DELIVERY_RETENTION_DAYS } from "@upstow/contract";
import { sql } from "#kysely";
import type { Database } from "../db/database.ts";
import { inSteps } from "../db/job-leases.ts";
import { databaseNow, isOneOf, statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { firstIdAt } from "../kernel/ids.ts";

const keptMs = DELIVERY_RETENTION_DAYS * 24 * 60 * 60 * 1000;

/** Attempts are deleted with their message. Messages still waiting to be sent are kept, however old. */
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

const batchSize = 500;

/** Endpoints have no project column; their messages show which belong to it. */
const deleteEndpoints = statement((q, p: { ids: string }, dialect) =>
  q.deleteFrom("webhook_endpoint").where(isOneOf(dialect, "id", p.ids)),
);

/** Attempts are deleted with their message. */
const deleteMessages = statement((q, p: { projectId: string; take: number }) =>
  q
    .deleteFrom("webhook_message")
    .where(
      "id",
      "in",
      q.selectFrom("webhook_message").select("id").where("project_id", "=", p.projectId).limit(p.take),
    )
    .returning("endpoint_id as endpointId"),
);

const deleteSigningKeys = statement((q, p: { projectId: string }) =>
  q.deleteFrom("webhook_signing_key").where("project_id", "=", p.projectId),
);

const deleteSequences = statement((q, p: { projectId: string }) =>
  q.deleteFrom("event_sequence").where("project_id", "=", p.projectId),
);

/** All of a project's events, including those still waiting to be sent. In batches, so as not to block others. */
export async function forgetProject(db: Database, projectId: string): Promise<void> {
  while ((await forgetBatch(db, projectId)) === batchSize);
  await db.run(deleteSigningKeys, { projectId });
  await db.run(deleteSequences, { projectId });
}

function forgetBatch(db: Database, projectId: string): Promise<number> {
  return db.transact(async (tx) => {
    const gone = await tx.all(deleteMessages, { projectId, take: batchSize });
    const ids = new Set(gone.flatMap(({ endpointId }) => endpointId ?? []));
    await tx.run(deleteEndpoints, { ids: JSON.stringify([...ids]) });
    return gone.length;
  });
}
