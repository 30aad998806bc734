import type { ByteRange } from "../storage/object-store.ts";

/** "all": no usable range was asked for, send everything. "none": nothing of what was asked for exists. */
export type RangeAnswer = ByteRange | "all" | "none";

/** One byte range; several, other units and malformed ones count as not asked for (RFC 9110 §14.2). */
export function parseRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i.exec(header?.trim() ?? "");
  if (match === null) return "all";
  const [, first, last, suffix] = match;
  if (first === undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? "none" : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === "" || last === undefined ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return "all";
  return start >= sizeBytes ? "none" : { start, end: Math.min(end, sizeBytes - 1) };
}
