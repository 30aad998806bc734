export type ErrorType = "invalid_request" | "authentication_error" | "rate_limit_error" | "api_error";

/** Every error code of the API with its HTTP status (spec §7, decided further in this project's docs). */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  INVALID_FILE_TYPE: 400,
  FILE_TOO_SMALL_FOR_MULTIPART: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  TIER_LIMIT_EXCEEDED: 403,
  IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN: 403,
  IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  DUPLICATE_SLUG: 409,
  CONFLICT: 409,
  UNSUPPORTED_TRANSFORM_TYPE: 415,
  FILE_NOT_IN_STORAGE: 422,
  CONTENT_MISMATCH: 422,
  RATE_LIMITED: 429,
  IMAGE_TRANSFORM_LIMIT_EXCEEDED: 429,
  INTERNAL_ERROR: 500,
  FILE_DAMAGED: 500,
  SERVICE_UNAVAILABLE: 503,
  INSUFFICIENT_STORAGE: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

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

export function errorType(status: number): ErrorType {
  if (status === 401) return "authentication_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "api_error" : "invalid_request";
}
