import { onAbort } from "../http/wait.ts";

/** Limits concurrency; first come, first served. */
export function createSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };

  const getTurn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = onAbort(signal, (reason) => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(reason);
      });
      const take = () => {
        leave();
        resolve();
      };
      waiting.push(take);
    });

  return async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await getTurn(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      leave();
    }
  };
}
