import type { ImportFailureReason } from "@upstow/contract";
import { DatabaseUnavailable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError, StorageFull } from "../../kernel/errors.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { countedBytes } from "../../projects/usage/period.ts";
import { releaseUsage } from "../../projects/usage/quota.ts";
import { StorageUnavailable, UnknownStore } from "../../storage/object-store.ts";
import { removeBytes, scheduleFileDeletion } from "../storage-deletions.ts";
import { findOpenFile, forgetFailure, type Held, keepFailure, markImportFailed } from "./queries.ts";
import type { Progress } from "./run-import.ts";

/** Why an import failed. The message is shown to the customer, and never reveals the source's response body. */
export class ImportFailure extends Error {
  override readonly name = "ImportFailure";
  readonly reason: ImportFailureReason;
  /** Whether the next attempt may get further. */
  readonly mayPass: boolean;

  constructor(reason: ImportFailureReason, message: string, { mayPass = false, cause }: FailureOptions = {}) {
    super(message, { cause });
    this.reason = reason;
    this.mayPass = mayPass;
  }
}

interface FailureOptions {
  mayPass?: boolean;
  cause?: unknown;
}

/** The worker has lost the import to another one, or its file was deleted. */
export class ImportLost extends Error {
  override readonly name = "ImportLost";
}

export const changed = () =>
  new ImportFailure("changed", "The file changed at its source while it was imported.", { mayPass: true });

const storageFailed = "The file could not be stored. Import it again later.";

/** Null if the database is away, so that nothing can be recorded. */
export function toFailure(error: unknown): ImportFailure | null {
  if (error instanceof ImportFailure) return error;
  if (error instanceof DatabaseUnavailable) return null;
  if (error instanceof AppError && error.code === "TIER_LIMIT_EXCEEDED")
    return new ImportFailure("quota", error.message);
  if (error instanceof AppError && ["INVALID_FILE_TYPE", "CONTENT_MISMATCH"].includes(error.code))
    return new ImportFailure("type_refused", error.message);
  if (error instanceof UnknownStore) return new ImportFailure("storage", storageFailed, { cause: error });
  const isAway = error instanceof AppError && error.code === "SERVICE_UNAVAILABLE";
  const mayPass = isAway || error instanceof StorageUnavailable || error instanceof StorageFull;
  return new ImportFailure("storage", storageFailed, { mayPass, cause: error });
}

/** Ends the file, unless someone else did, and keeps the reason for later calls. */
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
