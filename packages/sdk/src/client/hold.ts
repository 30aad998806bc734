import { onAbort } from "../http/wait.ts";

/** How a file follows a call made on its behalf. */
export interface Hold {
  /** Cancels the call if possible; always possible while it waits for a rate limit. */
  signal: AbortSignal;
  /** A wait for the rate limit begins, until this time, or ends (null). */
  onWait(untilMs: number | null): void;
}

/**
 * One call for several files. Each is notified when it waits and may leave then; the wait is cancelled once no file
 * needs the call.
 */
export function share<Answer>(ask: (hold: Hold) => Promise<Answer>, isNeeded: () => boolean = () => false) {
  const members = new Set<() => void>();
  const stop = new AbortController();
  let untilMs: number | null = null;
  const answer = ask({
    signal: stop.signal,
    onWait(time) {
      untilMs = time;
      for (const look of [...members]) look();
    },
  });
  answer.catch(() => {});

  return ({ signal, onWait }: Hold): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (untilMs === null || !signal.aborted) return onWait(untilMs);
        leave();
        reject(signal.reason);
        if (members.size === 0 && !isNeeded()) stop.abort(signal.reason);
      };
      const leave = () => {
        members.delete(look);
        unlisten();
      };
      members.add(look);
      const unlisten = onAbort(signal, () => untilMs !== null && queueMicrotask(look));
      if (untilMs !== null) look();
      answer.then(resolve, reject).finally(leave);
    });
}
