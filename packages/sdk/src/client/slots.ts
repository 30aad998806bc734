/** At most so many at once, first come first served. */
export function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };

  return async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  };
}
