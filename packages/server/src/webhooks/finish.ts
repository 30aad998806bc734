import type { DeliveryErrorClass, EventPayload } from "@upstow/contract";
import type { Database, Queryable } from "../db/database.ts";
import { writeLog } from "../projects/logs/queries.ts";
import type { Claim } from "./claim.ts";
import { finishAttemptRow, finishMessage, lockEndpoints, updateHealth } from "./queue-queries.ts";
import type { SendResult } from "./send.ts";

export interface FinishedAttempt {
  claim: Claim;
  result: SendResult;
  durationMs: number;
  /** Until the next attempt; null after a success, and when no retry is left. */
  retryDelayMs: number | null;
}

/** Consecutive timeouts of the endpoint; null if the lease went to another worker. */
export type Noted = { consecutiveTimeouts: number } | null;

/**
 * Records the outcome of attempts in one transaction. The outcome of a worker that lost its lease in the meantime is
 * ignored.
 */
export async function finishAttempts(
  db: Database,
  now: number,
  attempts: FinishedAttempt[],
): Promise<Noted[]> {
  const endpointIds = JSON.stringify([...new Set(attempts.map(({ claim }) => claim.endpointId))]);
  return db.transact(async (tx) => {
    // Endpoints first, as everywhere: a different order could deadlock transactions.
    const rows = await tx.all(lockEndpoints, { ids: endpointIds });
    const ended = await Promise.all(attempts.map((attempt) => finishMessageOf(tx, attempt)));
    const health = new Map<string, Health>(
      rows.map(({ id, consecutive_timeouts: consecutiveTimeouts }) => [
        id,
        { id, ended: 0, consecutiveTimeouts, delayMs: -1 },
      ]),
    );
    const noted = ended.map((attempt): Noted => {
      if (attempt === null) return null;
      return { consecutiveTimeouts: noteAttempt(health.get(attempt.claim.endpointId), attempt) };
    });
    await Promise.all([
      ...ended.filter((attempt) => attempt !== null).map((attempt) => writeOutcome(tx, now, attempt)),
      ...[...health.values()].map((endpoint) => tx.run(updateHealth, endpoint)),
    ]);
    return noted;
  });
}

interface Health {
  id: string;
  ended: number;
  consecutiveTimeouts: number;
  /** Until the earliest of the new retries; -1 when there is none. */
  delayMs: number;
}

function noteAttempt(endpoint: Health | undefined, { result, retryDelayMs }: FinishedAttempt): number {
  if (endpoint === undefined) return 0;
  endpoint.ended += 1;
  endpoint.consecutiveTimeouts = result.error === "timeout" ? endpoint.consecutiveTimeouts + 1 : 0;
  if (retryDelayMs !== null) {
    endpoint.delayMs = endpoint.delayMs < 0 ? retryDelayMs : Math.min(endpoint.delayMs, retryDelayMs);
  }
  return endpoint.consecutiveTimeouts;
}

/** The resulting state, which a redelivery requested meanwhile may have changed; null if the lease was lost. */
async function finishMessageOf(tx: Queryable, attempt: FinishedAttempt): Promise<FinishedAttempt | null> {
  const { claim, result, retryDelayMs } = attempt;
  const isRetried = retryDelayMs !== null;
  const message = await tx.get(finishMessage, {
    id: claim.id,
    token: claim.token,
    state: result.error === null ? "delivered" : isRetried ? "ready" : "dead",
    retried: isRetried ? claim.retried + 1 : claim.retried,
    delayMs: retryDelayMs ?? 0,
  });
  if (message === null) return null;
  // A retry is never the first attempt.
  const isRedelivered = message.state === "ready" && message.retried === 0;
  return isRedelivered ? { ...attempt, retryDelayMs: 0 } : attempt;
}

async function writeOutcome(tx: Queryable, now: number, attempt: FinishedAttempt): Promise<void> {
  const { claim, result, durationMs } = attempt;
  await Promise.all([
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
  return `Attempt ${claim.attempt} failed (${reason}); ${describeNextAttempt(retryDelayMs)}.`;
}

export function describeNextAttempt(delayMs: number | null): string {
  return delayMs === null ? "no retry is left" : `the next attempt follows in ${Math.ceil(delayMs / 1000)} s`;
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
