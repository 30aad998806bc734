import { RenderAbandoned } from "./render/render-job.ts";

/** A client that wants a variant. */
export interface Asker {
  /** A preview: readers of the same account come first. */
  isPreview?: boolean;
  /** Aborted when they disconnect. Only created if there is something to wait for. */
  signal?(): AbortSignal;
}

export interface SharedWork<T> {
  readonly result: Promise<T>;
  /** Rejects with `explain()` for clients that disconnect or have waited for `patienceMs`; those may come back. */
  join(asker: Asker, patienceMs: number, explain: () => Error): Promise<T>;
}

export interface WorkTerms {
  /** Aborted with `RenderAbandoned` once all clients have disconnected. */
  signal: AbortSignal;
  /** Whether only previews have requested it so far. */
  isPreview(): boolean;
}

/** Work that runs once for all waiting clients, and not at all if they are all gone. */
export function shareWork<T>(begin: (terms: WorkTerms) => Promise<T>): SharedWork<T> {
  const abandoned = new AbortController();
  let waiting = 0;
  let hasReader = false;
  const result = begin({ signal: abandoned.signal, isPreview: () => !hasReader });
  // There may be no one left to handle it.
  result.catch(() => {});

  return {
    result,
    async join({ isPreview = false, signal }, patienceMs, explain) {
      waiting++;
      if (!isPreview) hasReader = true;
      const left = Promise.withResolvers<never>();
      const leave = () => left.reject(explain());
      const hangUp = () => {
        leave();
        waiting--;
        if (waiting === 0) abandoned.abort(new RenderAbandoned("Nobody waits for the image any more."));
      };
      const gone = signal?.();
      // A client whose wait is over is told to come back, and still counts as waiting.
      const timer = setTimeout(leave, patienceMs);
      gone?.addEventListener("abort", hangUp, { once: true });
      if (gone?.aborted) hangUp();
      try {
        return await Promise.race([result, left.promise]);
      } finally {
        clearTimeout(timer);
        gone?.removeEventListener("abort", hangUp);
      }
    },
  };
}
