import {
  type BulkDeleteResult,
  type ClaimedFiles,
  type CreatedLinks,
  ErrorEnvelope,
  type RestoredFiles,
  type RevokedLinks,
  Type,
} from "@upstow/contract";
import { errorBody } from "../http/error-handler.ts";
import { notFound } from "../kernel/errors.ts";

type BulkResult =
  | typeof BulkDeleteResult
  | typeof ClaimedFiles
  | typeof RestoredFiles
  | typeof CreatedLinks
  | typeof RevokedLinks;

/** The responses of a call that names many files. */
export const bulkResponses = <Result extends BulkResult>(result: Result) => ({
  200: result,
  207: result,
  404: Type.Object({ ...result.properties, ...ErrorEnvelope.properties }),
});

/** 200 if all files were found, 207 if some were. */
export function bulkStatus(found: number, missing: string[]): 200 | 207 | 404 {
  if (missing.length === 0) return 200;
  return found > 0 ? 207 : 404;
}

/** The body for that status: if none was found, it also has `error`. */
export function bulkBody<Result extends object>(status: 200 | 207 | 404, result: Result): Result {
  return status === 404 ? { ...result, ...errorBody(notFound("These files were")) } : result;
}

export const toFailures = (missing: string[]) =>
  missing.map((key) => ({ key, code: "NOT_FOUND" as const, message: "File not found." }));

/** The keys and ids that name none of these files. */
export function listMissing(keysOrIds: string[], files: { id: string; key: string }[]): string[] {
  const found = new Set(files.flatMap(({ id, key }) => [id, key]));
  return keysOrIds.filter((name) => !found.has(name));
}
