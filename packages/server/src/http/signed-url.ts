import { AppError } from "../kernel/errors.ts";

/** A signed URL that cannot even be decoded was edited, like any other whose signature does not hold. */
export function ofSignedUrl(url: string): AppError | null {
  return /^\/[upt]\//.test(url) ? new AppError("FORBIDDEN", "This URL is not as it was signed.") : null;
}
