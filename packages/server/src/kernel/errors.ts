import { ERROR_STATUS, type ErrorCode, type ErrorDetail } from "@upstow/contract";

export interface AppErrorOptions {
  /** What the caller can do next. */
  suggestion?: string;
  details?: ErrorDetail[];
  /** For codes with several statuses, such as 413 for a VALIDATION_ERROR. */
  status?: number;
  headers?: Record<string, string>;
  /** Why a link no longer works: its visitors get a page in words that need no API. */
  deadLink?: DeadLink;
  cause?: unknown;
}

export type DeadLink = "expired" | "used up" | "revoked" | "unknown";

/** A failure whose message is shown to the caller. Anything else becomes INTERNAL_ERROR. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly suggestion: string | undefined;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string>;
  readonly deadLink: DeadLink | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? ERROR_STATUS[code];
    this.suggestion = options.suggestion;
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.deadLink = options.deadLink;
  }
}

/** `reason` says what is wrong with the key, in a few words. */
export function unauthorized(
  reason: string | null = null,
  suggestion = "Send the header 'Authorization: Bearer <API_KEY>' with an active key of this project.",
): AppError {
  return new AppError("UNAUTHORIZED", `Invalid or missing API key${reason === null ? "" : `: ${reason}`}.`, {
    suggestion,
  });
}

export function notFound(what: string): AppError {
  return new AppError("NOT_FOUND", `${what} not found.`, {
    suggestion: "Check the identifier, and that the key belongs to the same project and environment.",
  });
}

export function invalid(
  path: string,
  message: string,
  suggestion = "Correct the request and send it again.",
): AppError {
  return new AppError("VALIDATION_ERROR", `${path} ${message}`, {
    suggestion,
    details: [{ path, message }],
  });
}

/**
 * For a URL that the outbound guard rejects; `variable` is where an operator lists exceptions. The message is shown to
 * visitors too, who don't know the field's name, so only the details contain it.
 */
export function refusedUrl(path: string, reason: string, variable: string): AppError {
  return new AppError("VALIDATION_ERROR", reason, {
    suggestion: `Use a public https URL. The operator can allow others with ${variable}.`,
    details: [{ path, message: reason }],
  });
}

export const nothingKept = "Nothing was stored. Send everything again.";

export function bodyCutOff(): AppError {
  return new AppError("VALIDATION_ERROR", "The body ended before its declared length.", {
    suggestion: nothingKept,
  });
}

/** The disk or bucket that holds files or the database is full. */
export class StorageFull extends Error {
  override readonly name = "StorageFull";
}

export function fileNotFound(): AppError {
  return servedError(notFound("File"));
}

/** The file exists, but its bytes are missing or are not the ones that were confirmed. */
export function fileDamaged(): AppError {
  return servedError(
    new AppError("FILE_DAMAGED", "The file is damaged in storage and is not served.", {
      suggestion: "Upload it again, or ask the operator to restore its bytes.",
    }),
  );
}

/** Pages of any origin may see it, and no cache may keep it. */
function servedError(error: AppError): AppError {
  error.headers["cache-control"] = "no-store";
  error.headers["access-control-allow-origin"] = "*";
  return error;
}

/** Part of a suggestion. The reader may or may not be the operator. */
export const raiseTier = "ask the operator for a higher tier ('upstow account set-tier')";
