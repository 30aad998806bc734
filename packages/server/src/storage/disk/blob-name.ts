import { createId, isId } from "../../kernel/ids.ts";

/** A blob is immutable bytes. We choose its name: nothing a client sends is ever part of a path. */
export const createFileName = createId;
export const isFileName = isId;

/** Small blobs are rows instead of files; their names show that, and sort by age among the others. */
export const rowMark = "-row";
export const createRowName = (now: number): string => createId(now) + rowMark;
export const isRowName = (blob: string): boolean => blob.endsWith(rowMark);

const timeDigits = 10;
const shardDigits = 6;
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** The directory of a blob: the leading digits of its time, 32^4 ms (17 minutes) each, so neighbours share one. */
export function shardOf(blob: string): string {
  return blob.slice(0, shardDigits);
}

export function isShard(name: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{6}$/.test(name);
}

/** The latest time at which a blob of a shard can have been named. */
export function shardEndsAt(shard: string): number {
  return blobNamedAt(shard.padEnd(timeDigits, "z"));
}

export function blobNamedAt(blob: string): number {
  let time = 0;
  for (const digit of blob.slice(0, timeDigits)) time = time * 32 + alphabet.indexOf(digit);
  return time;
}
