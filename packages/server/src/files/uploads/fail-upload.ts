import type { Queryable } from "../../db/database.ts";
import type { FileRow, StorageDeletionRow } from "../../db/schema.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { releaseUsage } from "../../projects/usage/quota.ts";
import { scheduleFileDeletion } from "../storage-deletions.ts";

/** What follows in the transaction that marks an open upload as failed. The result is for `removeBytes`. */
export async function failUpload(
  tx: Queryable,
  now: number,
  file: FileRow,
  { message, data }: { message: string; data?: Record<string, unknown> },
): Promise<StorageDeletionRow> {
  const scope = { projectId: file.project_id, environment: file.environment };
  await releaseUsage(tx, now, scope, {
    storedBytes: 0,
    reservedBytes: countedBytes(file, file.size_bytes),
    uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
  });
  await writeLog(tx, now, { ...scope, type: "upload.failed", message, file, ...(data && { data }) });
  return scheduleFileDeletion(tx, now, file);
}
