import type { Database, Queryable } from "../../db/database.ts";
import { writeLog } from "../logs/write-log.ts";
import { fileOf } from "./finish.ts";
import { lockEndpoints } from "./finish-queries.ts";
import { endLease, listExpiredLeases, markInterrupted, releaseEndpoint } from "./lease-queries.ts";

const batch = 100;
/** A message that ends the process each time it is sent must not do so for ever. */
const mostInterruptions = 5;

type Expired = Awaited<ReturnType<typeof findExpired>>[number];

/** Gives back what workers held that died or lost the database; that is not charged as a retry. */
export async function recoverLeases(db: Database, now: number): Promise<number> {
  const expired = await findExpired(db);
  for (const message of expired) {
    await db.transact((tx) => recover(tx, now, message));
  }
  return expired.length;
}

function findExpired(db: Database) {
  return db.all(listExpiredLeases, { take: batch });
}

async function recover(tx: Queryable, now: number, message: Expired): Promise<void> {
  const isGivenUp = message.interruptions >= mostInterruptions;
  await tx.all(lockEndpoints, { ids: JSON.stringify([message.endpoint_id]) });
  const ended = await tx.run(endLease, {
    id: message.id,
    token: message.lease_token ?? "",
    state: isGivenUp ? "dead" : "ready",
  });
  if (ended !== 1) return;
  await tx.run(releaseEndpoint, { id: message.endpoint_id ?? "" });
  await tx.run(markInterrupted, { messageId: message.id, number: message.attempt_count });
  if (!isGivenUp) return;
  await writeLog(tx, now, {
    projectId: message.project_id,
    environment: message.environment,
    type: "webhook.failed",
    message: `Attempt ${message.attempt_count} was interrupted, like the ${mostInterruptions} before it; no other follows.`,
    ...fileOf(message),
    data: {
      deliveryId: message.id,
      event: message.event,
      attempt: message.attempt_count,
      error: "interrupted",
    },
  });
}
