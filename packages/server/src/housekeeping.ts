import { deleteEndedWindows } from "./adapters/rate-limiter/database.ts";
import type { Background } from "./background.ts";
import type { Deps } from "./deps.ts";
import type { LastUsed } from "./features/api-keys/last-used.ts";
import type { Bandwidth } from "./features/delivery/bandwidth.ts";
import { runDeletions } from "./features/files/storage-deletions.ts";
import { reapAbandonedUploads } from "./features/uploads/reaper.ts";
import { deleteOldCalls } from "./http/idempotency-queries.ts";

/** What is kept in memory for a moment and written down in batches. */
export interface Tallies {
  lastUsed: LastUsed;
  bandwidth: Bandwidth;
}

export async function writeTallies(tallies: Tallies): Promise<void> {
  await tallies.lastUsed.flush();
  await tallies.bandwidth.flush();
}

export function keepHouse(background: Background, deps: Deps, tallies: Tallies, windowMs: number): void {
  background.every(5_000, "write tallies", () => writeTallies(tallies));
  background.every(30_000, "delete bytes of ended files", () => runDeletions(deps));
  background.every(60_000, "end abandoned uploads", () => reapAbandonedUploads(deps));
  background.every(60_000, "forget ended rate windows", () => deps.db.run(deleteEndedWindows, { windowMs }));
  background.every(3_600_000, "forget old idempotency keys", () => deps.db.run(deleteOldCalls, {}));
}
