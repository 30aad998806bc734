import { RenderAbandoned } from "./render/render-job.ts";

/** Somebody who wants a variant. */
export interface Asker {
  /** Only tries things out: readers of the same account come first. */
  isPreview?: boolean;
  /** Aborted when they hang up. Asked for only where there is something to wait for. */
  signal?(): AbortSignal;
}

export interface SharedWork<T> {
  readonly result: Promise<T>;
  /** Rejects with `explain()` for who has hung up, or has waited for `patienceMs`; those may come back for the result. */
  join(asker: Asker, patienceMs: number, explain: () => Error): Promise<T>;
}

export interface WorkTerms {
  /** Aborted with `RenderAbandoned` once everybody has hung up. */
  signal: AbortSignal;
  /** Whether nobody but previews has asked so far. */
  isPreview(): boolean;
}

/** Work that is done once for all who wait for it, and for nobody when all of them have gone. */
export function shareWork<T>(begin: (terms: WorkTerms) => Promise<T>): SharedWork<T> {
  const abandoned = new AbortController();
  let waiting = 0;
  let hasReader = false;
  const result = begin({ signal: abandoned.signal, isPreview: () => !hasReader });
  // Nobody may be left to hear of it.
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
      // Who runs out of patience is told to come back, and still counts as one who waits.
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
