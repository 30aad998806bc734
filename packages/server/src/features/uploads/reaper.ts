import type { FileTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { scheduleDeletion } from "../files/storage-deletions.ts";
import { writeLog } from "../logs/write-log.ts";
import { releaseUsage } from "../usage/quota.ts";
import { listAbandoned, markFailed, postponeReaping } from "./queries.ts";

const batchSize = 100;
const hourMs = 3_600_000;
const singleIdleMs = 24 * hourMs;
const multipartIdleMs = 7 * 24 * hourMs;

/**
 * Ends uploads that nobody finishes, whatever became of their key or project: soon where nothing was received,
 * after a day (single) or a week (multipart) without activity where bytes are there.
 */
export async function reapAbandonedUploads(deps: Deps): Promise<number> {
  let failed = 0;
  for (;;) {
    const candidates = await deps.db.all(listAbandoned, { now: deps.now(), take: batchSize });
    for (const file of candidates) {
      if (await reap(deps, file)) failed++;
    }
    if (candidates.length < batchSize) return failed;
  }
}

async function reap(deps: Deps, file: FileTable): Promise<boolean> {
  const lastActivity = await findLastActivity(deps, file);
  const idleMs = file.upload_id === null ? singleIdleMs : multipartIdleMs;
  if (lastActivity !== null && lastActivity + idleMs > deps.now()) {
    await deps.db.run(postponeReaping, { id: file.id, reapAt: lastActivity + idleMs });
    return false;
  }
  return fail(deps, file);
}

async function findLastActivity(deps: Deps, file: FileTable): Promise<number | null> {
  if (file.upload_id === null) return (await deps.store.findReceived(file.key))?.receivedAt ?? null;
  const parts = await deps.store.listParts({ key: file.key, uploadId: file.upload_id });
  return parts === null || parts.length === 0 ? null : Math.max(...parts.map((part) => part.receivedAt));
}

async function fail(deps: Deps, file: FileTable): Promise<boolean> {
  const now = deps.now();
  const scope = { projectId: file.project_id, environment: file.environment };
  return deps.db.transact(async (tx) => {
    const failed = await tx.get(markFailed, { id: file.id, now });
    if (failed === null) return false;
    await releaseUsage(tx, now, scope, {
      storedBytes: 0,
      reservedBytes: file.size_bytes,
      uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
    });
    await scheduleDeletion(tx, now, file);
    await writeLog(tx, now, {
      ...scope,
      type: "upload.failed",
      message: `Upload of "${file.name}" was abandoned.`,
      file,
    });
    return true;
  });
}
