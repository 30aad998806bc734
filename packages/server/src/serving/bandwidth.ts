import type { Environment } from "@upstow/contract";
import type { Database } from "../db/database.ts";
import { periodOf } from "../projects/usage/period.ts";
import { countBandwidth } from "../projects/usage/queries.ts";

export interface Bandwidth {
  count(projectId: string, environment: Environment, bytes: number): void;
  /** Resolves once everything counted before the call is written down. */
  flush(): Promise<void>;
}

interface Sum {
  projectId: string;
  environment: Environment;
  period: string;
  bytes: number;
}

/** Adds up the bytes served and writes the sums now and then, not once per read. */
export function createBandwidth(db: Database, now: () => number): Bandwidth {
  let sums = new Map<string, Sum>();
  /** Where the most recent bytes went, and where the next ones go more often than not. */
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
    // In one order on every instance, so that two flushes cannot wait for each other's rows.
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
      // After one that is under way: whoever reads the counters next wants its bytes too.
      lastWrite = lastWrite.then(write, write);
      return lastWrite;
    },
  };
}
