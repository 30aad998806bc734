import type { ContentCheck, Router, StripChoice } from "@upstow/contract";
import { formatBytes, formatCount, formatMany } from "../../format.ts";
import { timeUnits, toAmount } from "./amount-field.tsx";

const checks: Record<ContentCheck, string[]> = {
  off: [],
  warn: ["Mismatched content logged"],
  enforce: ["Mismatched content rejected"],
};
const strips: Record<StripChoice, string[]> = {
  off: [],
  gps: ["Location removed"],
  all: ["Metadata removed"],
};

/** What it accepts. */
export function describeLimits({ allowedTypes, maxFileSize }: Router): string {
  const types = allowedTypes.length === 0 ? "All types" : allowedTypes.join(", ");
  return maxFileSize === null ? types : `${types} · up to ${formatBytes(maxFileSize)}`;
}

/** What happens to its files; empty if nothing does. */
export function describeTreatment(route: Router): string {
  const { expireAfterDays, claimWithin, checkContent, stripMetadata, scan } = route;
  return [
    ...checks[checkContent],
    ...strips[stripMetadata],
    ...(scan ? ["Scanned for viruses"] : []),
    ...(expireAfterDays === null ? [] : [`Expires after ${formatMany(expireAfterDays, "day")}`]),
    ...(claimWithin === null ? [] : [`Claim within ${formatTimeSpan(claimWithin)}`]),
  ].join(" · ");
}

function formatTimeSpan(seconds: number): string {
  const { text, unit } = toAmount(seconds, timeUnits, "hours");
  const count = Math.round(Number(text) * 10) / 10;
  return `${formatCount(count)} ${count === 1 ? unit.slice(0, -1) : unit}`;
}
