import type { DeliveryErrorClass, EventPayload } from "@upstow/contract";
import type { Database, Queryable } from "../../db/database.ts";
import { writeLog } from "../logs/write-log.ts";
import type { Claim } from "./claim.ts";
import { finishAttemptRow, finishMessage, lockEndpoints, noteAttemptAtEndpoint } from "./queue-queries.ts";
import type { SendResult } from "./send.ts";

export interface FinishedAttempt {
  claim: Claim;
  result: SendResult;
  durationMs: number;
  /** Until the next attempt; null after a success, and when no retry is left. */
  retryDelayMs: number | null;
}

/** How many attempts at the endpoint have timed out in a row; null when the lease went to another worker. */
export type Noted = { consecutiveTimeouts: number } | null;

/**
 * Writes down how attempts ended, in one transaction. A worker whose lease went to another in the meantime has
 * no say: its outcome changes nothing.
 */
export async function finishAttempts(
  db: Database,
  now: number,
  attempts: FinishedAttempt[],
): Promise<Noted[]> {
  const endpointIds = JSON.stringify([...new Set(attempts.map(({ claim }) => claim.endpointId))]);
  return db.transact(async (tx) => {
    // Endpoints come first, as everywhere: two orders would let transactions wait for each other.
    await tx.all(lockEndpoints, { ids: endpointIds });
    const changed = await Promise.all(attempts.map((attempt) => finishMessageOf(tx, attempt)));
    return Promise.all(
      attempts.map((attempt, i) => (changed[i] === 1 ? writeOutcome(tx, now, attempt) : null)),
    );
  });
}

function finishMessageOf(tx: Queryable, { claim, result, retryDelayMs }: FinishedAttempt): Promise<number> {
  const isRetried = retryDelayMs !== null;
  return tx.run(finishMessage, {
    id: claim.id,
    token: claim.token,
    state: result.error === null ? "delivered" : isRetried ? "ready" : "dead",
    retried: isRetried ? claim.retried + 1 : claim.retried,
    delayMs: retryDelayMs ?? 0,
  });
}

async function writeOutcome(tx: Queryable, now: number, attempt: FinishedAttempt): Promise<Noted> {
  const { claim, result, durationMs, retryDelayMs } = attempt;
  const [endpoint] = await Promise.all([
    tx.get(noteAttemptAtEndpoint, {
      endpointId: claim.endpointId,
      isTimeout: result.error === "timeout" ? 1 : 0,
      delayMs: retryDelayMs ?? -1,
    }),
    tx.run(finishAttemptRow, {
      messageId: claim.id,
      number: claim.attempt,
      durationMs,
      statusCode: result.statusCode,
      error: result.error,
      response: result.response,
    }),
    logOutcome(tx, now, attempt),
  ]);
  return { consecutiveTimeouts: endpoint?.consecutive_timeouts ?? 0 };
}

async function logOutcome(tx: Queryable, now: number, attempt: FinishedAttempt): Promise<void> {
  const { claim, result, durationMs, retryDelayMs } = attempt;
  await writeLog(tx, now, {
    projectId: claim.projectId,
    environment: claim.environment,
    type: result.error === null ? "webhook.delivered" : "webhook.failed",
    message: describeOutcome(claim, result, retryDelayMs),
    ...fileOf(claim),
    data: {
      deliveryId: claim.id,
      event: claim.event,
      attempt: claim.attempt,
      statusCode: result.statusCode,
      error: result.error,
      durationMs,
    },
  });
}

function describeOutcome(claim: Claim, result: SendResult, retryDelayMs: number | null): string {
  if (result.error === null) return `The webhook answered ${result.statusCode}.`;
  const reason = describeFailure(result.error, result.statusCode);
  const next =
    retryDelayMs === null
      ? "no retry is left"
      : `the next attempt follows in ${Math.ceil(retryDelayMs / 1000)} s`;
  return `Attempt ${claim.attempt} failed (${reason}); ${next}.`;
}

function describeFailure(error: DeliveryErrorClass, statusCode: number | null): string {
  return statusCode === null ? error : `${error}, status ${statusCode}`;
}

/** The file of a test event does not exist, so nothing is filed under it. */
export function fileOf(message: Pick<Claim, "event" | "body">): { file?: { id: string; key: string } } {
  if (message.event === "test") return {};
  const { file } = JSON.parse(message.body) as EventPayload;
  return { file: { id: file.id, key: file.key } };
}
