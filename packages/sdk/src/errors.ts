import type { ErrorCode, ErrorDetail, ErrorType } from "./wire/errors.ts";

/** Errors that do not come from the service itself. */
export type SdkErrorCode =
  /** No response: the connection failed. */
  | "NETWORK_ERROR"
  /** No response in time. */
  | "TIMEOUT"
  /** A response that is not from the service: a proxy's page, or a wrong URL. */
  | "UNEXPECTED_ANSWER"
  /** The storage rejected the bytes, even after retries. */
  | "STORAGE_REFUSED"
  /** The stored bytes differ from the bytes that were sent. */
  | "CHECKSUM_MISMATCH"
  /** The service could not import a URL; the message says why, and `cause` has the `reason`. */
  | "IMPORT_FAILED"
  | "FILE_TOO_LARGE"
  | "TOO_MANY_FILES"
  /** The token sent by the browser was not issued by this handler, or has expired. */
  | "INVALID_TOKEN"
  /** `onUploadComplete` threw. */
  | "CALLBACK_FAILED"
  /** A file was not uploaded because of an error outside this package, such as in your `headers` function. */
  | "UPLOAD_FAILED"
  /** The caller cancelled. */
  | "CANCELLED";

export type UpstowErrorCode = ErrorCode | SdkErrorCode;

export interface UpstowErrorFields {
  /** You may use your own codes: they are passed from the route's middleware to the browser. */
  code: UpstowErrorCode | (string & {});
  /** HTTP status; 0 if there was no response. */
  status?: number;
  type?: ErrorType;
  suggestion?: string | undefined;
  requestId?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  details?: ErrorDetail[] | undefined;
  cause?: unknown;
}

/** The error class of this package. */
export class UpstowError extends Error {
  override readonly name: string = "UpstowError";
  declare readonly code: UpstowErrorCode | (string & {});
  declare readonly status: number;
  declare readonly type: ErrorType;
  declare readonly suggestion: string | undefined;
  declare readonly requestId: string | undefined;
  declare readonly retryAfter: number | undefined;
  declare readonly details: ErrorDetail[] | undefined;

  constructor(message: string, fields: UpstowErrorFields) {
    super(message, fields);
    const { code, status = 0, type = errorType(status), suggestion, requestId, retryAfter, details } = fields;
    Object.assign(this, { code, status, type, suggestion, requestId, retryAfter, details });
  }
}

/** Throw it in a route's `middleware`: 401 if the user is not signed in, 403 if they are not allowed. */
export class UpstowAuthError extends UpstowError {
  override readonly name = "UpstowAuthError";

  constructor(message = "Sign in to upload.", status: 401 | 403 = 401) {
    super(message, { code: status === 401 ? "UNAUTHORIZED" : "FORBIDDEN", status });
  }
}

function errorType(status: number): ErrorType {
  if (status === 401) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  return status === 0 || status >= 500 ? "api_error" : "invalid_request";
}
