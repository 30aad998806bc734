import type { DeliveryErrorClass, EventPayload } from "@upstow/contract";
import { type Database, type Queryable, withCommit } from "../db/database.ts";
import { writeLog } from "../projects/logs/queries.ts";
import type { Claim } from "./claim.ts";
import { finishAttemptRow, finishMessage, type Health, updateHealth } from "./queue-queries.ts";
import type { SendResult } from "./send.ts";

export interface FinishedAttempt {
  claim: Claim;
  result: SendResult;
  durationMs: number;
  /** Until the next attempt; null after a success, and when no retries left. */
  retryDelayMs: number | null;
}

/** Consecutive timeouts of the endpoint; null if the lease went to another worker. */
export type Noted = { consecutiveTimeouts: number } | null;

/**
 * Records the outcome of attempts in one transaction. The outcome of a worker that lost its lease in the meantime is
 * ignored. Messages come before endpoints here, as everywhere, and in the order of their ids: transactions that lock in
 * different orders could deadlock.
 */
export async function finishAttempts(
  db: Database,
  now: number,
  attempts: FinishedAttempt[],
): Promise<Noted[]> {
  const sorted = attempts.toSorted((a, b) => (a.claim.id < b.claim.id ? -1 : 1));
  const noted = new Map<Claim, Noted>();
  await db.transact(async (tx) => {
    const results = await Promise.all(sorted.map((attempt) => finishMessageOf(tx, attempt)));
    const byClaim = new Map(
      results.flatMap((attempt) => (attempt === null ? [] : [[attempt.claim, attempt]])),
    );
    const ended = attempts.flatMap(({ claim }) => byClaim.get(claim) ?? []);
    const byEndpoint = [...Map.groupBy(ended, ({ claim }) => claim.endpointId)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    await withCommit(tx, async () => {
      const outcomes = ended.map((attempt) => writeOutcome(tx, now, attempt));
      const endpoints = byEndpoint.map(async ([id, ofEndpoint]) => {
        const row = await tx.get(updateHealth, summarize(id, ofEndpoint));
        noteTimeouts(noted, ofEndpoint, row?.consecutive_timeouts ?? 0);
      });
      await Promise.all([...outcomes, ...endpoints]);
    });
  });
  return attempts.map(({ claim }) => noted.get(claim) ?? null);
}

const isTimeout = ({ result }: FinishedAttempt) => result.error === "timeout";

function summarize(id: string, attempts: FinishedAttempt[]): Health {
  const responded = attempts.findLastIndex((attempt) => !isTimeout(attempt));
  const delays = attempts.flatMap(({ retryDelayMs }) => retryDelayMs ?? []);
  return {
    id,
    ended: attempts.length,
    timeouts: attempts.length - 1 - responded,
    hasResponded: responded === -1 ? 0 : 1,
    delayMs: delays.length === 0 ? -1 : Math.min(...delays),
  };
}

/** The last attempt leaves this many consecutive timeouts. Those before a response no longer matter. */
function noteTimeouts(noted: Map<Claim, Noted>, attempts: FinishedAttempt[], last: number): void {
  let consecutiveTimeouts = last;
  for (const attempt of attempts.toReversed()) {
    if (!isTimeout(attempt)) consecutiveTimeouts = 0;
    noted.set(attempt.claim, { consecutiveTimeouts });
    consecutiveTimeouts = Math.max(0, consecutiveTimeouts - 1);
  }
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
  if (result.error === null) return `The webhook returned ${result.statusCode}.`;
  const reason = describeFailure(result.error, result.statusCode);
  return `Attempt ${claim.attempt} failed (${reason}). ${describeNextAttempt(retryDelayMs)}.`;
}

export function describeNextAttempt(delayMs: number | null): string {
  return delayMs === null ? "No retries left" : `Next attempt in ${describeDelay(delayMs)}`;
}

/** Retry delays range from seconds to hours, and nobody reads 2,012 s as half an hour. */
function describeDelay(delayMs: number): string {
  const seconds = Math.ceil(delayMs / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
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
