import type { FileRow } from "../../db/schema.ts";
import { isCustomerStore } from "../customer-storage/customer-stores.ts";

let knownDay = Number.NaN;
let known = "";

/** The calendar month in UTC that a moment belongs to, as YYYY-MM. */
export function periodOf(timeMs: number): string {
  const day = Math.floor(timeMs / 86_400_000);
  if (day !== knownDay) {
    known = new Date(timeMs).toISOString().slice(0, 7);
    knownDay = day;
  }
  return known;
}

/** Whole seconds until the end of a moment's month. */
export function periodEndsInSec(timeMs: number): number {
  const date = new Date(timeMs);
  return Math.ceil((Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - timeMs) / 1000);
}

/** The given period and the ones before it, newest first. */
export function periodsBack(period: string, count: number): string[] {
  const [year = 0, month = 1] = period.split("-").map(Number);
  return Array.from({ length: count }, (_, i) => periodOf(Date.UTC(year, month - 1 - i, 1)));
}

/** A file's share of the storage quota: nothing in a customer's own bucket. */
export function countedBytes(file: Pick<FileRow, "store">, sizeBytes: number): number {
  return isCustomerStore(file.store) ? 0 : sizeBytes;
}
