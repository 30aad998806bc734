import type { ErrorCode, ErrorDetail, ErrorType } from "./wire/errors.ts";

/** What goes wrong before, around or after the service's own answer. */
export type SdkErrorCode =
  /** No answer: the connection failed. */
  | "NETWORK_ERROR"
  /** No answer in time. */
  | "TIMEOUT"
  /** An answer that is not the service's: a proxy's page, or a wrong address. */
  | "UNEXPECTED_ANSWER"
  /** The storage refused the bytes, retries included. */
  | "STORAGE_REFUSED"
  /** The stored bytes are not the ones that were sent. */
  | "CHECKSUM_MISMATCH"
  | "FILE_TOO_LARGE"
  | "TOO_MANY_FILES"
  /** The signed token that a browser presented is not this handler's, or has expired. */
  | "INVALID_TOKEN"
  /** `onUploadComplete` threw. */
  | "CALLBACK_FAILED"
  /** A file was not uploaded because of an error that is not this package's, such as one of your `headers` function. */
  | "UPLOAD_FAILED"
  /** The caller cancelled. */
  | "CANCELLED";

export type UpstowErrorCode = ErrorCode | SdkErrorCode;

export interface UpstowErrorFields {
  /** Your own codes are welcome too: they travel from the route's middleware to the browser. */
  code: UpstowErrorCode | (string & {});
  /** HTTP status; 0 where there was no answer. */
  status?: number;
  type?: ErrorType;
  suggestion?: string | undefined;
  requestId?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  details?: ErrorDetail[] | undefined;
  cause?: unknown;
}

/** Every failure of this package. */
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

/** Throw it in a route's `middleware`: 401 for "who are you?", 403 for "not you". */
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
