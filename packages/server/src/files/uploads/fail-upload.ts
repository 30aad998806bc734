import type { Queryable } from "../../db/database.ts";
import type { FileRow, StorageDeletionRow } from "../../db/schema.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { releaseUsage } from "../../projects/usage/quota.ts";
import { scheduleFileDeletion } from "../storage-deletions.ts";

/**
 * What follows in the transaction that marks an upload as failed: an open one, which is then not counted, or one whose
 * bytes had been confirmed. The result is for `removeBytes`.
 */
export async function failUpload(
  tx: Queryable,
  now: number,
  file: FileRow,
  { message, data }: { message: string; data?: Record<string, unknown> },
): Promise<StorageDeletionRow> {
  const scope = { projectId: file.project_id, environment: file.environment };
  const bytes = countedBytes(file, file.size_bytes);
  const released =
    file.etag === null
      ? { storedBytes: 0, reservedBytes: bytes, uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]) }
      : { storedBytes: bytes, reservedBytes: 0, uploadsByPeriod: new Map() };
  await releaseUsage(tx, now, scope, released);
  await writeLog(tx, now, { ...scope, type: "upload.failed", message, file, ...(data && { data }) });
  return scheduleFileDeletion(tx, now, file);
}
