import { formatBytes, typeName } from "./format.ts";
import type { Labels } from "./labels.ts";
import type { Limits, Rules, UploadOptions } from "./types.ts";

/** The component's own rules take precedence over the route's; the backend checks again in any case. */
export function mergeRules(options: UploadOptions, ofRoute: Rules | undefined): Rules {
  const { accept, maxFileSize, maxFileCount } = options;
  const limits = Object.entries(ofRoute?.limits ?? {}).map(([type, own]) => [
    type,
    { ...own, maxFileSize: maxFileSize ?? own.maxFileSize },
  ]);
  return {
    allowedTypes: accept?.map(toMediaRange) ?? ofRoute?.allowedTypes ?? [],
    maxFileSize: maxFileSize ?? ofRoute?.maxFileSize ?? null,
    maxFileCount: maxFileCount ?? ofRoute?.maxFileCount ?? null,
    limits: Object.fromEntries(limits),
  };
}

function toMediaRange(type: string): string {
  if (/[./]/.test(type)) return type;
  return type === "pdf" ? "application/pdf" : `${type}/*`;
}

/** The most specific type that matches a file and its limits; otherwise the route's limits. */
export function limitsOf({ type: given }: File, rules: Rules): Limits & { type?: string } {
  const type = mediaType(given || unknownType);
  for (const range of [type, familyOf(type), "*/*"]) {
    const limits = rules.limits?.[range];
    if (limits !== undefined) return { ...limits, type: range };
  }
  return { maxFileSize: rules.maxFileSize, maxFileCount: null };
}

/** Browsers do not know every type; the backend uses the same fallback. */
const unknownType = "application/octet-stream";

const mediaType = (given: string) => (given.split(";", 1)[0] ?? "").trim().toLowerCase();
const familyOf = (type: string) => `${type.split("/", 1)[0]}/*`;

/** Ignores case and parameters, as the backend does. */
export function isAccepted(allowed: readonly string[], given: string, name?: string): boolean {
  const type = mediaType(given);
  return (
    allowed.length === 0 ||
    allowed.some((entry) => {
      const wanted = entry.toLowerCase();
      if (wanted.startsWith(".")) return name === undefined || name.toLowerCase().endsWith(wanted);
      return ["*/*", familyOf(type), type].includes(wanted);
    })
  );
}

interface Fault {
  code: string;
  message: string;
}

/** Why the files on the list leave no room for this one; null if there is room. */
export function findExcess(file: File, kept: File[], rules: Rules, labels: Labels): Fault | null {
  const { type, maxFileCount } = limitsOf(file, rules);
  const code = "TOO_MANY_FILES";
  if (rules.maxFileCount !== null && kept.length >= rules.maxFileCount)
    return { code, message: `${file.name}: ${labels.atMost(rules.maxFileCount)}` };
  if (maxFileCount === null || type === undefined) return null;
  const isFull = kept.filter((other) => limitsOf(other, rules).type === type).length >= maxFileCount;
  if (!isFull) return null;
  return { code, message: `${file.name}: ${typeName(type, labels)}, ${labels.atMost(maxFileCount)}` };
}

/** Why this file cannot be uploaded; null if it can. */
export function findFault(file: File, rules: Rules, labels: Labels, locale?: string): Fault | null {
  const { name, size } = file;
  if (!isAccepted(rules.allowedTypes, file.type || unknownType, name))
    return { code: "INVALID_FILE_TYPE", message: labels.wrongType(name) };
  const { maxFileSize } = limitsOf(file, rules);
  if (maxFileSize !== null && size > maxFileSize) {
    return { code: "FILE_TOO_LARGE", message: labels.tooLarge(name, formatBytes(maxFileSize, locale)) };
  }
  return size === 0 ? { code: "VALIDATION_ERROR", message: labels.isEmpty(name) } : null;
}
