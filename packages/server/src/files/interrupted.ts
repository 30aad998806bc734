import { AppError } from "../kernel/errors.ts";

/** A long deletion that gives way to the end of the service; what is gone stays gone. */
export function interrupted(deleted: number): AppError {
  return new AppError(
    "SERVICE_UNAVAILABLE",
    `The service is stopping; ${deleted} files were deleted so far.`,
    {
      suggestion: "Delete the rest when it runs again.",
      headers: { "retry-after": "10" },
    },
  );
}
