import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | null)?.code));
}

/** Says in the port's words what a failed call to the file system means. Other errors pass unchanged. */
export function explainDiskError(error: unknown): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  if (hasCode(error, "ENOSPC", "EDQUOT"))
    return new StorageFull("the disk that holds the objects is full", { cause: error });
  return new StorageUnavailable(
    `the disk that holds the objects does not work (${String((error as { code?: unknown }).code)})`,
    {
      cause: error,
    },
  );
}
