import type { Database, Queryable } from "../db/database.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { describeNextAttempt, fileOf } from "./finish.ts";
import { endLease, listExpiredLeases, markInterrupted, releaseEndpoint } from "./queue-queries.ts";

const batch = 100;
/**
 * A server that is killed repeatedly never costs an event its retries or the event itself. But a message that crashes
 * the process whenever it is sent must not do so without a pause: from here on pauses double, up to a maximum.
 */
const freeInterruptions = 5;
const longestPauseMs = 3_600_000;

type Expired = Awaited<ReturnType<typeof findExpired>>[number];

/** Releases the leases of workers that died or lost the database. */
export async function recoverLeases(db: Database, now: number, pauseMs: number): Promise<number> {
  const expired = await findExpired(db);
  for (const message of expired) {
    await db.transact((tx) => recover(tx, now, message, pauseMs));
  }
  return expired.length;
}

function findExpired(db: Database) {
  return db.all(listExpiredLeases, { take: batch });
}

async function recover(tx: Queryable, now: number, message: Expired, pauseMs: number): Promise<void> {
  const charged = message.interruptions - freeInterruptions;
  const delayMs = charged < 0 ? 0 : Math.min(pauseMs * 2 ** charged, longestPauseMs);
  const ended = await tx.run(endLease, { id: message.id, token: message.lease_token ?? "", delayMs });
  if (ended !== 1) return;
  await tx.run(releaseEndpoint, { id: message.endpoint_id ?? "" });
  await tx.run(markInterrupted, { messageId: message.id, number: message.attempt_count });
  if (delayMs > 0) await logFailure(tx, now, message, delayMs);
}

async function logFailure(tx: Queryable, now: number, message: Expired, delayMs: number): Promise<void> {
  await writeLog(tx, now, {
    projectId: message.project_id,
    environment: message.environment,
    type: "webhook.failed",
    message: `Attempt ${message.attempt_count} was interrupted, like those before it; ${describeNextAttempt(delayMs)}.`,
    ...fileOf(message),
    data: {
      deliveryId: message.id,
      event: message.event,
      attempt: message.attempt_count,
      error: "interrupted",
    },
  });
}
