import type { DeliveryErrorClass, EventPayload } from "@upstow/contract";
import type { Database, Queryable } from "../../db/database.ts";
import { writeLog } from "../logs/write-log.ts";
import type { Claim } from "./claim.ts";
import { finishAttemptRow, finishMessage, noteAttemptAtEndpoint } from "./queue-queries.ts";
import type { SendResult } from "./send.ts";

export interface FinishedAttempt {
  claim: Claim;
  result: SendResult;
  durationMs: number;
  /** Until the next attempt; null after a success, and when no retry is left. */
  retryDelayMs: number | null;
}

class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * Writes down how an attempt ended; null when the lease went to another worker in the meantime, which then has
 * the say. Returns how many attempts at this endpoint have timed out in a row.
 */
export async function finishAttempt(
  db: Database,
  now: number,
  attempt: FinishedAttempt,
): Promise<{ consecutiveTimeouts: number } | null> {
  try {
    return await db.transact((tx) => writeOutcome(tx, now, attempt));
  } catch (error) {
    if (error instanceof LeaseLost) return null;
    throw error;
  }
}

async function writeOutcome(tx: Queryable, now: number, attempt: FinishedAttempt) {
  const { claim, result, durationMs, retryDelayMs } = attempt;
  const isRetried = retryDelayMs !== null;
  // The endpoint comes first, as everywhere: two orders would let transactions wait for each other.
  const [endpoint, finished] = await Promise.all([
    tx.get(noteAttemptAtEndpoint, {
      endpointId: claim.endpointId,
      isTimeout: result.error === "timeout" ? 1 : 0,
      delayMs: retryDelayMs ?? -1,
    }),
    tx.run(finishMessage, {
      id: claim.id,
      token: claim.token,
      state: result.error === null ? "delivered" : isRetried ? "ready" : "dead",
      retried: isRetried ? claim.retried + 1 : claim.retried,
      delayMs: retryDelayMs ?? 0,
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
  if (finished !== 1) throw new LeaseLost("the lease went to another worker");
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
