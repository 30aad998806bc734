/** Calls once the signal is aborted, at once where it is already. The answer takes the listener off again. */
export function onAbort(signal: AbortSignal | undefined, act: (reason: unknown) => void): () => void {
  const hear = () => act(signal?.reason);
  if (signal?.aborted) hear();
  else signal?.addEventListener("abort", hear);
  return () => signal?.removeEventListener("abort", hear);
}

/** What the promise brings, unless the signal is aborted first: some work cannot be told to stop. */
export function orAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject).finally(onAbort(signal, reject));
  });
}

/** Such a timer does not keep the process alive; a browser's never does. */
export function unhold(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

/** Rejects with the signal's reason as soon as it is aborted. What is unheld does not keep the process alive. */
export function wait(ms: number, signal?: AbortSignal, isUnheld = false): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const time = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    if (isUnheld) unhold(timer);
  });
  return orAborted(time, signal).finally(() => clearTimeout(timer));
}

/**
 * Work with a stop of its own, which is pulled by either signal and when the time is over. By hand, because edge
 * runtimes lack `AbortSignal.any`; and nothing is left behind on a signal that lives longer than the work.
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

/** Doubles with every attempt; the jitter keeps clients that failed together from coming back together. */
export function backoffMs(attempt: number, baseMs: number): number {
  return Math.min(longestMs, baseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}
