import type { Environment } from "@upstow/contract";
import type { Database } from "../../db/database.ts";
import { countInPeriod } from "../usage/counter-queries.ts";
import { periodOf } from "../usage/period.ts";
import { findUsageTotal } from "../usage/queries.ts";

export interface Bandwidth {
  count(projectId: string, environment: Environment, bytes: number): void;
  flush(): Promise<void>;
}

/** Adds up the bytes served and writes the sums now and then, not once per read. */
export function createBandwidth(db: Database, now: () => number): Bandwidth {
  let sums = new Map<string, { projectId: string; environment: Environment; bytes: number }>();
  return {
    count(projectId, environment, bytes) {
      const id = `${projectId}/${environment}`;
      const sum = sums.get(id);
      if (sum === undefined) sums.set(id, { projectId, environment, bytes });
      else sum.bytes += bytes;
    },
    async flush() {
      // In one order on every instance, so that two flushes cannot wait for each other's rows.
      const batch = [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
      sums = new Map();
      if (batch.length === 0) return;
      const period = periodOf(now());
      await db.transact(async (tx) => {
        for (const { projectId, environment, bytes } of batch) {
          const total = await tx.get(findUsageTotal, { projectId, environment });
          await tx.run(countInPeriod, {
            projectId,
            environment,
            period,
            uploads: 0,
            bandwidthBytes: bytes,
            storedBytes: total?.stored_bytes ?? 0,
          });
        }
      });
    },
  };
}
