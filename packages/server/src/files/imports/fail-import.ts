import type { Deps } from "../../deps.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { releaseUsage } from "../../projects/usage/quota.ts";
import { removeBytes, scheduleFileDeletion } from "../storage-deletions.ts";
import type { ImportFailure } from "./failure.ts";
import { findOpenFile, forgetFailure, type Held, keepFailure, markImportFailed } from "./queries.ts";
import type { Progress } from "./run-import.ts";

/** Ends the file, unless someone else did, and keeps the reason for whoever asks. */
export async function failImport(
  deps: Deps,
  held: Held,
  { receivedBytes }: Progress,
  { reason, message }: ImportFailure,
): Promise<void> {
  const now = deps.now();
  const deletions = await deps.db.transact(async (tx) => {
    // Another worker has it now.
    if ((await tx.run(keepFailure, { ...held, now, failure: reason, message })) === 0) return [];
    const file = await tx.get(findOpenFile, { id: held.fileId });
    const isEnded = file !== null && (await tx.run(markImportFailed, { id: file.id, now })) === 1;
    if (!isEnded) {
      await tx.run(forgetFailure, { fileId: held.fileId });
      return [];
    }
    const scope = { projectId: file.project_id, environment: file.environment };
    await releaseUsage(tx, now, scope, {
      storedBytes: 0,
      reservedBytes: countedBytes(file, file.size_bytes),
      uploadsByPeriod: new Map([[file.reserved_period ?? "", 1]]),
    });
    await writeLog(tx, now, {
      ...scope,
      type: "upload.failed",
      message: `Import of "${file.name}" failed: ${message}`,
      file,
      data: { reason, receivedBytes },
    });
    return [await scheduleFileDeletion(tx, now, file)];
  });
  await removeBytes(deps, deletions);
}
