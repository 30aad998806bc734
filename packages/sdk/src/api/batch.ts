import { UpstowError } from "../errors.ts";
import type { ErrorBody } from "../wire/errors.ts";
import type { BatchItem } from "../wire/uploads.ts";

/** What each file of a batch got, or why it got nothing, in the order of the request. */
export async function settleBatch<Success extends object>(
  asked: Promise<BatchItem<Success>[]>,
  key: "uploads" | "files",
): Promise<(Success | UpstowError)[]> {
  const items = await asked.catch((error: UpstowError) => {
    // Where no file succeeds, the call is refused like the first of them, and still says why for each.
    const all = (error.cause as Partial<Record<string, BatchItem<Success>[]>> | undefined)?.[key];
    if (all === undefined || error.status >= 500) throw error;
    return all;
  });
  return items.map((item) => ("error" in item ? toItemError(item) : item));
}

/** Items carry no status, so it follows from the code. */
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
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
  INSUFFICIENT_STORAGE: 507,
};
