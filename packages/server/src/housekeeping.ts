import { GB } from "@upstow/contract";
import { deleteEndedWindows } from "./adapters/rate-limiter/database.ts";
import type { Background } from "./background.ts";
import { inSteps } from "./db/in-steps.ts";
import type { Deps } from "./deps.ts";
import type { LastUsed } from "./features/api-keys/last-used.ts";
import type { Bandwidth } from "./features/delivery/bandwidth.ts";
import { runDeletions } from "./features/files/storage-deletions.ts";
import { forgetOldLogs } from "./features/logs/retention.ts";
import type { Transforms } from "./features/transforms/transforms.ts";
import { reapAbandonedUploads } from "./features/uploads/reaper.ts";
import { noteUsageDays } from "./features/usage/usage-days.ts";
import { forgetOldMessages } from "./features/webhooks/retention.ts";
import { deleteOldCalls } from "./http/idempotency-queries.ts";

const variantCacheBytes = 10 * GB;

/** Parts of the running service that routes and background work share. */
export interface Services {
  lastUsed: LastUsed;
  bandwidth: Bandwidth;
  transforms: Transforms;
}

export async function writeTallies(services: Services): Promise<void> {
  await services.lastUsed.flush();
  await services.bandwidth.flush();
  await services.transforms.flush();
}

export function keepHouse(background: Background, deps: Deps, services: Services, windowMs: number): void {
  background.every(5_000, "write tallies", () => writeTallies(services));
  background.every(30_000, "delete bytes of ended files", () => runDeletions(deps));
  background.everyInOne(60_000, "end abandoned uploads", (signal) => reapAbandonedUploads(deps, signal));
  background.everyInOne(60_000, "forget ended rate windows", (signal) =>
    inSteps((take) => deps.db.run(deleteEndedWindows, { windowMs, take }), signal),
  );
  background.everyInOne(300_000, "note the usage of the day", () => noteUsageDays(deps));
  background.everyInOne(600_000, "evict image variants", (signal) =>
    services.transforms.evict(variantCacheBytes, signal),
  );
  background.everyInOne(3_600_000, "forget old webhook messages", (signal) =>
    forgetOldMessages(deps, signal),
  );
  background.everyInOne(3_600_000, "forget old idempotency keys", (signal) =>
    inSteps((take) => deps.db.run(deleteOldCalls, { take }), signal),
  );
  background.everyInOne(3_600_000, "forget old logs", (signal) => forgetOldLogs(deps, signal));
}
