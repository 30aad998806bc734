import { setTimeout as wait } from "node:timers/promises";
import { DatabaseReadOnly } from "../db/database.ts";
import type { RunLeased } from "../db/job-leases.ts";
import type { Deps } from "../deps.ts";
import type { RunJob } from "../kernel/event-loop-guard.ts";
import type { BackgroundMetrics } from "./metrics.ts";

type Work = (signal: AbortSignal) => Promise<unknown>;

export interface Background {
  /** Repeats `work`, one run at a time, until closed. Failures are logged and the next run tries again. */
  every(intervalMs: number, name: string, work: Work): void;
  /** The same, but each run happens on only one of all instances, and a restart does not put it off. */
  everyInOne(intervalMs: number, name: string, work: Work): void;
  /** Lets running work finish. */
  close(): Promise<void>;
}

interface BackgroundOptions {
  /** Runs are skipped while this is true. */
  isResting?: () => boolean;
  runLeased: RunLeased;
  /** Knows what is running, so that an event loop stall can be attributed to it. */
  runJob: RunJob;
  metrics: BackgroundMetrics;
  /** How long until it is noticed that work is due. */
  lookMs?: number;
}

export function createBackground(
  log: Deps["log"],
  { isResting = () => false, runLeased, runJob, metrics, lookMs = 60_000 }: BackgroundOptions,
): Background {
  const closing = new AbortController();
  const loops: Promise<void>[] = [];

  async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await runJob(name, work);
    } catch (error) {
      if (closing.signal.aborted || error instanceof DatabaseReadOnly) return;
      metrics.countFailure(name);
      log.error({ err: error, job: name }, "background work failed");
    }
  }

  /** Not counted where another instance does it. */
  function counted(name: string, work: Work): Work {
    return async (signal) => {
      const startedMs = performance.now();
      await work(signal);
      metrics.countRun(name, performance.now() - startedMs);
    };
  }

  async function repeat(intervalMs: number, name: string, work: Work) {
    while (!closing.signal.aborted) {
      // 10% jitter keeps instances from doing the same work at the same moment.
      const pauseMs = intervalMs * (0.95 + Math.random() / 10);
      await wait(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (closing.signal.aborted) return;
      if (!isResting()) await attempt(name, () => work(closing.signal));
    }
  }

  return {
    every(intervalMs, name, work) {
      loops.push(repeat(intervalMs, name, counted(name, work)));
    },
    everyInOne(intervalMs, name, work) {
      // The database knows when it is due, so an instance that is restarted every half hour still does hourly work.
      const everyMs = Math.min(intervalMs, lookMs);
      // Slightly shorter than the interval, so that each run finds the last lease expired.
      const leaseMs = Math.round(intervalMs * 0.9);
      loops.push(repeat(everyMs, name, (signal) => runLeased(name, leaseMs, counted(name, work), signal)));
    },
    async close() {
      closing.abort();
      await Promise.all(loops);
    },
  };
}
