import type { Database, Queryable } from "../../db/database.ts";
import { writeLog } from "../logs/write-log.ts";
import { describeNextAttempt, fileOf } from "./finish.ts";
import { lockEndpoints } from "./finish-queries.ts";
import { endLease, listExpiredLeases, markInterrupted, releaseEndpoint } from "./lease-queries.ts";
import { retryDelayMs } from "./retry-schedule.ts";

const batch = 100;
/**
 * A server that is restarted again and again must cost no event its retries. A message that ends the process each
 * time it is sent must not do so for ever: from here on its interruptions count as failures, ever further apart.
 */
const freeInterruptions = 5;

type Expired = Awaited<ReturnType<typeof findExpired>>[number];

/** Gives back what workers held that died or lost the database. */
export async function recoverLeases(db: Database, now: number, retryBaseMs: number): Promise<number> {
  const expired = await findExpired(db);
  for (const message of expired) {
    await db.transact((tx) => recover(tx, now, message, retryBaseMs));
  }
  return expired.length;
}

function findExpired(db: Database) {
  return db.all(listExpiredLeases, { take: batch });
}

async function recover(tx: Queryable, now: number, message: Expired, retryBaseMs: number): Promise<void> {
  const isFree = message.interruptions < freeInterruptions;
  const delayMs = isFree ? 0 : planRetry(message, retryBaseMs);
  await tx.all(lockEndpoints, { ids: JSON.stringify([message.endpoint_id]) });
  const ended = await tx.run(endLease, {
    id: message.id,
    token: message.lease_token ?? "",
    state: delayMs === null ? "dead" : "ready",
    retried: isFree || delayMs === null ? message.retried : message.retried + 1,
    delayMs: delayMs ?? 0,
  });
  if (ended !== 1) return;
  await tx.run(releaseEndpoint, { id: message.endpoint_id ?? "" });
  await tx.run(markInterrupted, { messageId: message.id, number: message.attempt_count });
  if (!isFree) await logFailure(tx, now, message, delayMs);
}

function planRetry(message: Expired, baseMs: number): number | null {
  const { retried, retries_allowed: allowed } = message;
  return retryDelayMs({ retried, allowed, baseMs, retryAfterMs: null, random: Math.random() });
}

async function logFailure(
  tx: Queryable,
  now: number,
  message: Expired,
  delayMs: number | null,
): Promise<void> {
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
