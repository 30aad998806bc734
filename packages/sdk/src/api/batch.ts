import { UpstowError } from "../errors.ts";
import type { ErrorBody } from "../wire/errors.ts";
import type { BatchItem } from "../wire/uploads.ts";

/** The result or error of each file in a batch, in the order of the request. */
export async function settleBatch<Success extends object>(
  asked: Promise<BatchItem<Success>[]>,
  key: "uploads" | "files",
): Promise<(Success | UpstowError)[]> {
  const items = await asked.catch((error: UpstowError) => {
    // If no file succeeds, the call fails with the first file's error, but still lists an error per file.
    const all = (error.cause as Partial<Record<string, BatchItem<Success>[]>> | undefined)?.[key];
    if (all === undefined || error.status >= 500) throw error;
    return all;
  });
  return items.map((item) => ("error" in item ? toItemError(item) : item));
}

/** Items have no status, so it is derived from the code. */
function toItemError({ error: { message, ...fields } }: ErrorBody): UpstowError {
  return new UpstowError(message, { ...fields, status: statuses[fields.code] ?? 400 });
}

const statuses: Record<string, number> = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  TIER_LIMIT_EXCEEDED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  FILE_NOT_IN_STORAGE: 422,
  CONTENT_MISMATCH: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  INSUFFICIENT_STORAGE: 507,
};
