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
