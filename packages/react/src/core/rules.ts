import { formatBytes } from "./format.ts";
import type { Labels } from "./labels.ts";
import type { Rules, UploadOptions } from "./types.ts";

/** The component's own wishes come before what the route says; the backend checks again in any case. */
export function mergeRules(options: UploadOptions, ofRoute: Rules | undefined): Rules {
  return {
    allowedTypes: options.accept ?? ofRoute?.allowedTypes ?? [],
    maxFileSize: options.maxFileSize ?? ofRoute?.maxFileSize ?? null,
    maxFileCount: options.maxFileCount ?? ofRoute?.maxFileCount ?? null,
  };
}

/** Ignores case and parameters, as the backend does. */
export function isAccepted(allowed: readonly string[], given: string, name?: string): boolean {
  const type = (given.split(";", 1)[0] ?? "").trim().toLowerCase();
  const family = `${type.split("/", 1)[0]}/*`;
  return (
    allowed.length === 0 ||
    allowed.some((entry) => {
      const wanted = entry.toLowerCase();
      if (wanted.startsWith(".")) return name === undefined || name.toLowerCase().endsWith(wanted);
      return ["*/*", family, type].includes(wanted);
    })
  );
}

/** Why this file cannot be uploaded; null where it can. */
export function findFault(
  file: File,
  rules: Rules,
  labels: Labels,
  locale?: string,
): { code: string; message: string } | null {
  const { name, size } = file;
  // Browsers do not know every type; the backend then sees the same fallback.
  const type = file.type || "application/octet-stream";
  if (!isAccepted(rules.allowedTypes, type, name))
    return { code: "INVALID_FILE_TYPE", message: labels.wrongType(name) };
  if (rules.maxFileSize !== null && size > rules.maxFileSize) {
    return { code: "FILE_TOO_LARGE", message: labels.tooLarge(name, formatBytes(rules.maxFileSize, locale)) };
  }
  return size === 0 ? { code: "VALIDATION_ERROR", message: labels.isEmpty(name) } : null;
}
