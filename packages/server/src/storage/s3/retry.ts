import { setTimeout as sleep } from "node:timers/promises";
import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";
import { isOurMistake, isPassing, quote } from "./s3-error.ts";

export interface RetryPolicy {
  attempts: number;
  /** The first pause is up to this long, each later one up to twice as long as the one before. */
  baseDelayMs: number;
  maxDelayMs: number;
  /** No attempt starts later than this after the first. */
  giveUpAfterMs: number;
}

/** For calls that may be made twice. Pauses are drawn at random, so that instances do not come back in step. */
export async function withRetries<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  for (let number = 1; ; number++) {
    try {
      signal?.throwIfAborted();
      return await attempt();
    } catch (error) {
      if (signal?.aborted === true) throw explain(signal.reason);
      const pauseMs = Math.random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (number - 1));
      const isLate = performance.now() + pauseMs - startedAt > policy.giveUpAfterMs;
      if (number >= policy.attempts || isLate || !isPassing(error)) throw explain(error);
      // Its end is seen at the next attempt.
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}

/** Without the cause: Node attaches what the bucket sent, packets and certificates, and all of it would be logged. */
function explain(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageFull || isOurMistake(error))
    return error;
  const { name, code, message } = error as NodeJS.ErrnoException;
  // The caller has gone, and is owed no explanation.
  if (name === "AbortError") return error;
  const reason = name === "TimeoutError" ? "it did not answer in time" : quote(String(code ?? message));
  return new StorageUnavailable(`the bucket cannot be reached: ${reason}`);
}

/** One deadline over all steps of a piece of work. Unlike that of `AbortSignal.timeout`, its timer ends with the work. */
export async function withDeadline<T>(
  deadlineMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException("the deadline has passed", "TimeoutError")),
    deadlineMs,
  );
  try {
    return await work(late.signal);
  } finally {
    clearTimeout(timer);
  }
}
