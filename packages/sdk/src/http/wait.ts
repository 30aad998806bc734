/** Calls back when the signal is aborted, or immediately if it already is. Returns a function that stops listening. */
export function onAbort(signal: AbortSignal | undefined, act: (reason: unknown) => void): () => void {
  const hear = () => act(signal?.reason);
  if (signal?.aborted) hear();
  else signal?.addEventListener("abort", hear);
  return () => signal?.removeEventListener("abort", hear);
}

/** The promise's result, unless the signal is aborted first: some work cannot be cancelled. */
export function orAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject).finally(onAbort(signal, reject));
  });
}

/** The timer does not keep the process alive; in browsers none does. */
export function unhold(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

/** Rejects with the signal's reason as soon as it is aborted. An unheld wait does not keep the process alive. */
export function wait(ms: number, signal?: AbortSignal, isUnheld = false): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    if (isUnheld) unhold(timer);
  });
  return orAborted(time, signal).finally(() => clearTimeout(timer));
}

/**
 * Runs work with its own signal, aborted by either given signal or the timeout. By hand, because edge runtimes lack
 * `AbortSignal.any`, and to leave no listener on a signal that outlives the work.
 */
export async function stoppable<Result>(
  signals: (AbortSignal | undefined)[],
  timeoutMs: number | undefined,
  work: (stop: AbortController) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const pull = (reason?: unknown) => stop.abort(reason);
  const timer = timeoutMs === undefined ? undefined : setTimeout(pull, timeoutMs);
  const leave = signals.map((signal) => onAbort(signal, pull));
  try {
    return await work(stop);
  } finally {
    clearTimeout(timer);
    for (const each of leave) each();
  }
}

export const longestMs = 30_000;

/** Doubles with every attempt; jitter keeps clients that failed together from retrying together. */
export function backoffMs(attempt: number, baseMs: number): number {
  return Math.min(longestMs, baseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}
