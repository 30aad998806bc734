import { ERROR_STATUS, type ErrorCode } from "@upstow/contract";

/** Refusals that belong to one operation, beside those that its key, path, query and body bring along. */
const ownErrors: Readonly<Record<string, readonly ErrorCode[]>> = {
  "POST /upload/request": ["INVALID_FILE_TYPE", "TIER_LIMIT_EXCEEDED", "NOT_FOUND"],
  "POST /upload/complete": ["NOT_FOUND", "FILE_NOT_IN_STORAGE", "INSUFFICIENT_STORAGE"],
  "POST /upload/batch/request": ["INVALID_FILE_TYPE", "TIER_LIMIT_EXCEEDED", "NOT_FOUND"],
  "POST /upload/batch/complete": ["NOT_FOUND", "FILE_NOT_IN_STORAGE", "INSUFFICIENT_STORAGE"],
  "POST /upload/multipart/init": [
    "FILE_TOO_SMALL_FOR_MULTIPART",
    "INVALID_FILE_TYPE",
    "TIER_LIMIT_EXCEEDED",
    "NOT_FOUND",
  ],
  "POST /upload/multipart/sign": ["NOT_FOUND"],
  "POST /upload/multipart/complete": ["NOT_FOUND", "FILE_NOT_IN_STORAGE", "INSUFFICIENT_STORAGE"],
  "POST /upload/multipart/abort": ["NOT_FOUND"],
  "DELETE /files": ["NOT_FOUND"],
  "POST /projects": ["TIER_LIMIT_EXCEEDED"],
  "POST /projects/{id}/routers": ["DUPLICATE_SLUG"],
  "PATCH /routers/{id}": ["DUPLICATE_SLUG"],
  "POST /projects/{id}/keys": ["TIER_LIMIT_EXCEEDED"],
  "POST /transforms/image": [
    "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN",
    "IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY",
    "NOT_FOUND",
    "UNSUPPORTED_TRANSFORM_TYPE",
    "IMAGE_TRANSFORM_LIMIT_EXCEEDED",
  ],
};

/** Where a code comes with another status than in the table of errors. */
const otherStatuses: Readonly<Record<string, Readonly<Record<number, ErrorCode>>>> = {
  "POST /webhooks/signing-keys/rotate": { 409: "VALIDATION_ERROR" },
};

export interface OperationShape {
  method: string;
  /** As the document writes it: `/api/v1/files/{key}`. */
  path: string;
  isPublic: boolean;
  takesInput: boolean;
}

/** Every code with which an operation can refuse, by status, each in the order in which its checks are made. */
export function listErrors({ method, path, isPublic, takesInput }: OperationShape): [string, ErrorCode[]][] {
  const operation = `${method} ${path.replace("/api/v1", "")}`;
  const codes: ErrorCode[] = [
    ...(isPublic ? [] : (["UNAUTHORIZED"] as const)),
    "RATE_LIMITED",
    ...(takesInput || (method === "POST" && !isPublic) ? (["VALIDATION_ERROR"] as const) : []),
    ...(ownErrors[operation] ?? []),
    ...(path.includes("{") ? (["NOT_FOUND"] as const) : []),
    "FORBIDDEN",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
  ];
  const others = Object.entries(otherStatuses[operation] ?? {});
  return [
    ...Map.groupBy(new Set(codes), (code) => String(ERROR_STATUS[code])),
    ...others.map(([status, code]): [string, ErrorCode[]] => [status, [code]]),
  ];
}
