const lookEveryMs = 1_000;
const shortestStallMs = 10_000;
/** So long after a stall connections may still turn out to have been given up meanwhile. */
const aftermathMs = 5_000;

export interface Stalls {
  /** Whether the machine stood still since then: what ran out of time meanwhile says nothing about the service. */
  overlap(sinceMs: number): boolean;
  stop(): void;
}

/** Notices when this process was not run at all, as when it is stopped by a signal or its machine is suspended. */
export function watchForStalls(now: () => number = Date.now): Stalls {
  let [lookedAt, stalledUntil] = [now(), 0];
  const look = () => {
    if (now() - lookedAt > shortestStallMs) stalledUntil = now();
    lookedAt = now();
  };
  const timer = setInterval(look, lookEveryMs);
  timer.unref();
  return {
    overlap(sinceMs) {
      // What failed because of a stall may come to hear of it before the timer does.
      look();
      return stalledUntil + aftermathMs >= sinceMs;
    },
    stop: () => clearInterval(timer),
  };
}
