import { VARIANT_CACHE_MAX_BYTES } from "@upstow/contract";
import { inSteps } from "../db/job-leases.ts";
import type { Deps } from "../deps.ts";
import { deleteEndedFiles } from "../files/delete-files.ts";
import { runMoves } from "../files/file-moves.ts";
import { forgetFailures, type Importer } from "../files/imports/importer.ts";
import type { Scanner } from "../files/scanning/scanner.ts";
import { scrubDeletedFiles } from "../files/scrub-deleted.ts";
import { runDeletions } from "../files/storage-deletions.ts";
import { purgeTrash } from "../files/trash.ts";
import { forgetEndedGrants } from "../files/uploads/grants/grant.ts";
import { reapAbandonedUploads } from "../files/uploads/reaper.ts";
import { forgetOldResumables } from "../files/uploads/resumable/uploads.ts";
import { deleteOldCalls } from "../http/idempotency-queries.ts";
import { deleteEndedWindows } from "../http/rate-limiter/database.ts";
import type { Background } from "../ops/background.ts";
import { checkNextFiles } from "../ops/verify/walk.ts";
import type { LastUsed } from "../projects/api-keys/authenticate.ts";
import { forgetOldEntries } from "../projects/audit/read-trail.ts";
import { divideLogs, forgetOldLogs } from "../projects/logs/retention.ts";
import { noteUsageDays } from "../projects/usage/usage-days.ts";
import type { Bandwidth } from "../serving/bandwidth.ts";
import type { Transforms } from "../serving/images/transforms.ts";
import { forgetEndedLinks } from "../serving/links/revoke-links.ts";
import { forgetOldMessages } from "../webhooks/retention.ts";

/** Parts of the running service shared by routes and background work. */
export interface Services {
  lastUsed: LastUsed;
  bandwidth: Bandwidth;
  transforms: Transforms;
  importer: Importer;
  scanner: Scanner;
}

export async function writeTallies(services: Services): Promise<void> {
  await services.lastUsed.flush();
  await services.bandwidth.flush();
  await services.transforms.flush();
}

export function keepHouse(background: Background, deps: Deps, services: Services, windowMs: number): void {
  background.every(5_000, "write tallies", () => writeTallies(services));
  background.every(30_000, "delete bytes of ended files", () => runDeletions(deps));
  background.every(10_000, "move files whose access has changed", () => runMoves(deps));
  background.every(2_000, "start imports", () => services.importer.look());
  background.every(1_000, "start virus scans", () => services.scanner.look());
  // On every instance, because each has renderers.
  background.every(1_000, "describe images", (signal) => services.transforms.describeImages(signal));
  background.everyInOne(60_000, "end abandoned uploads", (signal) => reapAbandonedUploads(deps, signal));
  background.everyInOne(60_000, "delete expired files", (signal) => deleteEndedFiles(deps, signal));
  background.everyInOne(60_000, "empty the trash", (signal) => purgeTrash(deps, signal));
  background.everyInOne(60_000, "forget ended rate windows", (signal) =>
    inSteps((take) => deps.db.run(deleteEndedWindows, { windowMs, take }), signal),
  );
  background.everyInOne(300_000, "note the usage of the day", () => noteUsageDays(deps));
  background.everyInOne(60_000, "evict image variants", (signal) =>
    services.transforms.evict(VARIANT_CACHE_MAX_BYTES, signal),
  );
  background.everyInOne(3_600_000, "forget old webhook messages", (signal) =>
    forgetOldMessages(deps, signal),
  );
  background.everyInOne(3_600_000, "forget old idempotency keys", (signal) =>
    inSteps((take) => deps.db.run(deleteOldCalls, { take }), signal),
  );
  background.everyInOne(3_600_000, "forget old imports", (signal) => forgetFailures(deps, signal));
  background.everyInOne(3_600_000, "forget ended links", (signal) => forgetEndedLinks(deps, signal));
  background.everyInOne(3_600_000, "forget ended upload grants", (signal) => forgetEndedGrants(deps, signal));
  background.everyInOne(3_600_000, "forget old resumable uploads", (signal) =>
    forgetOldResumables(deps, signal),
  );
  background.everyInOne(3_600_000, "compare records and stored files", (signal) =>
    checkNextFiles(deps, signal),
  );
  background.everyInOne(3_600_000, "divide logs by month", () => divideLogs(deps));
  background.everyInOne(3_600_000, "forget old logs", (signal) => forgetOldLogs(deps, signal));
  background.everyInOne(3_600_000, "scrub deleted files", (signal) => scrubDeletedFiles(deps, signal));
  background.everyInOne(3_600_000, "forget old audit entries", (signal) => forgetOldEntries(deps, signal));
}
