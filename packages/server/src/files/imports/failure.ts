import type { ImportFailureReason } from "@upstow/contract";
import { DatabaseUnavailable } from "../../db/database.ts";
import { AppError, StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable, UnknownStore } from "../../storage/object-store.ts";

/** Why an import does not go on. The message is shown to the customer, and never says anything of the source's body. */
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
