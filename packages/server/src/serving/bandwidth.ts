import type { Environment } from "@upstow/contract";
import type { Database } from "../db/database.ts";
import { periodOf } from "../projects/usage/period.ts";
import { countBandwidth } from "../projects/usage/queries.ts";

export interface Bandwidth {
  count(projectId: string, environment: Environment, bytes: number): void;
  /** Resolves once everything counted before the call is saved. */
  flush(): Promise<void>;
}

interface Sum {
  projectId: string;
  environment: Environment;
  period: string;
  bytes: number;
}

/** Adds up the bytes served and saves the sums periodically, not once per read. */
export function createBandwidth(db: Database, now: () => number): Bandwidth {
  let sums = new Map<string, Sum>();
  /** The most recent counter, which is usually the next one too. */
  let last: Sum | null = null;
  let lastWrite = Promise.resolve();

  function add({ projectId, environment, period, bytes }: Sum): void {
    if (
      last !== null &&
      last.projectId === projectId &&
      last.environment === environment &&
      last.period === period
    ) {
      last.bytes += bytes;
      return;
    }
    const id = `${projectId}/${environment}/${period}`;
    last = sums.get(id) ?? { projectId, environment, period, bytes: 0 };
    last.bytes += bytes;
    sums.set(id, last);
  }

  async function write(): Promise<void> {
    // In the same order on every instance, so that two flushes cannot deadlock.
    const batch = [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
    sums = new Map();
    last = null;
    if (batch.length === 0) return;
    try {
      await db.transact(async (tx) => {
        for (const { projectId, environment, period, bytes } of batch) {
          await tx.run(countBandwidth, { projectId, environment, period, bandwidthBytes: bytes });
        }
      });
    } catch (error) {
      for (const sum of batch) add(sum);
      throw error;
    }
  }

  return {
    count(projectId, environment, bytes) {
      add({ projectId, environment, period: periodOf(now()), bytes });
    },
    flush() {
      // Waits for a running flush, because the next reader of the counters needs its bytes too.
      lastWrite = lastWrite.then(write, write);
      return lastWrite;
    },
  };
}
