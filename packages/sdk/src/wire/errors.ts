export type ErrorType = "invalid_request" | "authentication_error" | "rate_limit_error" | "api_error";

/** The service's error codes. */
export type ErrorCode =
  | "VALIDATION_ERROR"
  | "INVALID_FILE_TYPE"
  | "FILE_TOO_SMALL_FOR_MULTIPART"
  | "UNAUTHORIZED"
  | "FORBIDDEN"
  | "TIER_LIMIT_EXCEEDED"
  | "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN"
  | "IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY"
  | "NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "DUPLICATE_SLUG"
  | "CONFLICT"
  | "UNSUPPORTED_TRANSFORM_TYPE"
  | "FILE_NOT_IN_STORAGE"
  | "CONTENT_MISMATCH"
  | "RATE_LIMITED"
  | "IMAGE_TRANSFORM_LIMIT_EXCEEDED"
  | "INTERNAL_ERROR"
  | "FILE_DAMAGED"
  | "SERVICE_UNAVAILABLE"
  | "INSUFFICIENT_STORAGE";

export interface ErrorDetail {
  path: string;
  message: string;
}

export interface ErrorBody {
  error: {
    type: ErrorType;
    code: ErrorCode;
    message: string;
    suggestion?: string;
    details?: ErrorDetail[];
  };
}
