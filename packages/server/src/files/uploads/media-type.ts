/** Ignores case and parameters; an empty list allows every type. */
export function isAllowedType(allowedTypes: readonly string[], contentType: string): boolean {
  if (allowedTypes.length === 0) return true;
  const type = mediaType(contentType);
  const family = `${type.split("/", 1)[0]}/*`;
  return allowedTypes.some((entry) => ["*/*", family, type].includes(entry.toLowerCase()));
}

export function mediaType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}
