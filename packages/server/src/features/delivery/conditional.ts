/** What a client already has, as its request headers tell. */
export interface Conditions {
  ifNoneMatch: string | undefined;
  ifModifiedSince: string | undefined;
  ifRange: string | undefined;
}

/** If-None-Match decides alone where it is given; dates are whole seconds. */
export function isNotModified(conditions: Conditions, etag: string, modifiedMs: number): boolean {
  const { ifNoneMatch, ifModifiedSince } = conditions;
  if (ifNoneMatch !== undefined) {
    return (
      ifNoneMatch.trim() === "*" || listTags(ifNoneMatch).some((tag) => tag.replace(/^W\//, "") === etag)
    );
  }
  const since = ifModifiedSince === undefined ? Number.NaN : Date.parse(ifModifiedSince);
  return Math.floor(modifiedMs / 1000) * 1000 <= since;
}

/** A range is only good for the very bytes it was cut from: a weak tag or another date means send everything. */
export function isRangeCurrent(conditions: Conditions, etag: string, modifiedMs: number): boolean {
  const { ifRange } = conditions;
  if (ifRange === undefined || ifRange.trim() === etag) return true;
  return Date.parse(ifRange) === Math.floor(modifiedMs / 1000) * 1000;
}

function listTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
