import { FILE_LIFE_MAX_SEC } from "@upstow/contract";
import { type RawBuilder, sql } from "#kysely";
import type { FileRouteRow, FileRow } from "../db/schema.ts";
import { parseMoment } from "../http/paging.ts";
import { invalid } from "../kernel/errors.ts";

type Ends = Pick<FileRow, "expires_at" | "claim_by">;

/** When a file is gone unless something changes; null if it stays. */
export function endOf({ expires_at, claim_by }: Ends): number | null {
  if (expires_at === null || claim_by === null) return expires_at ?? claim_by;
  return Math.min(expires_at, claim_by);
}

/** From its end on a file is gone for everyone, even if no job has deleted it yet. */
export function hasEnded(file: Ends, now: () => number): boolean {
  const end = endOf(file);
  return end !== null && end <= now();
}

/** The same as a condition of statements that find files. */
export function notEnded(now: number | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(expires_at is null or expires_at > ${now}) and (claim_by is null or claim_by > ${now})`;
}

/** The opposite: the guard for deleting an ended file. */
export function ended(now: number): RawBuilder<boolean> {
  return sql<boolean>`(expires_at <= ${now} or claim_by <= ${now})`;
}

interface AskedLife {
  expiresIn?: number | undefined;
  expiresAt?: string | null | undefined;
}

/** The requested expiry in milliseconds, null if the file is to stay, undefined if the call says nothing about it. */
export function readExpiry({ expiresIn, expiresAt }: AskedLife, now: number): number | null | undefined {
  if (expiresIn === undefined && (expiresAt === undefined || expiresAt === null)) return expiresAt;
  if (expiresIn !== undefined && expiresAt !== undefined)
    throw invalid("expiresAt", "cannot be combined with expiresIn");
  const at = expiresIn === undefined ? parseMoment("expiresAt", expiresAt ?? "") : now + expiresIn * 1000;
  if (at <= now) throw invalid("expiresAt", "must be in the future");
  if (at > now + FILE_LIFE_MAX_SEC * 1000) throw invalid("expiresAt", "must be within 100 years");
  return at;
}

/** While a file waits for its scan, no client knows that it can be claimed. */
export const claimAfterScan = 8_640_000_000_000_000;

/** When a file has to be claimed, from the moment on at which it can be read. */
export function claimByFor(route: Pick<FileRouteRow, "claim_within_sec"> | null, now: number): number | null {
  const within = route?.claim_within_sec ?? null;
  return within === null ? null : now + within * 1000;
}

/** Whether it is there to be read by anyone: files that wait for their virus scan are not. */
export function isReadable({ status, scan }: Pick<FileRow, "status" | "scan">): boolean {
  return status === "UPLOADED" && scan !== "pending";
}

/** The same as a condition. */
export const readable = sql<boolean>`file.status = 'UPLOADED' and file.scan is distinct from 'pending'`;

/** Whether there are bytes: of confirmed files, and of those in the trash. */
export function keepsBytes({ status, purge_at }: Pick<FileRow, "status" | "purge_at">): boolean {
  return status === "UPLOADED" || purge_at !== null;
}
