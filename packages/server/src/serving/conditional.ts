import type { IncomingHttpHeaders } from "node:http";
import type { ByteRange } from "../storage/object-store.ts";

/** What the response depends on besides the URL (RFC 9110 §13). */
export interface Validators {
  /** With its quotes. */
  etag: string;
  modifiedMs: number;
}

type Headers = Pick<
  IncomingHttpHeaders,
  "if-match" | "if-none-match" | "if-modified-since" | "if-unmodified-since"
> & { "if-range"?: string | string[] | undefined };

/** If present, only the tag counts, with a strong comparison; dates are whole seconds. */
export function failsPrecondition(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) return ifMatch.trim() !== "*" && !listTags(ifMatch).includes(etag);
  return wholeSeconds(modifiedMs) > parseHttpDate(headers["if-unmodified-since"]);
}

/** If present, only If-None-Match counts, with a weak comparison. */
export function isNotModified(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    const tags = listTags(ifNoneMatch).map((tag) => tag.replace(/^W\//, ""));
    return ifNoneMatch.trim() === "*" || tags.includes(etag);
  }
  return wholeSeconds(modifiedMs) <= parseHttpDate(headers["if-modified-since"]);
}

/** A range is only valid for exactly the same bytes: with a weak tag or another date, everything is sent. */
export function isRangeCurrent(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifRange = headers["if-range"];
  if (ifRange === undefined) return true;
  if (typeof ifRange !== "string") return false;
  return ifRange.trim() === etag || parseHttpDate(ifRange) === wholeSeconds(modifiedMs);
}

function listTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

const httpDates = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/** Only the three forms of RFC 9110 §5.6.7. Anything else is NaN, for which every comparison is false. */
function parseHttpDate(text: string | undefined): number {
  const date = text?.trim() ?? "";
  if (!httpDates.some((form) => form.test(date))) return Number.NaN;
  return Date.parse(date.endsWith("GMT") ? date : `${date} GMT`);
}

/** "all": no usable range was requested, send everything. "none": nothing in the requested range exists. */
export type RangeAnswer = ByteRange | "all" | "none";

/** One byte range; several ranges, other units and malformed ones are ignored (RFC 9110 §14.2). */
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
