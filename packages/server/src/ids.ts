import { randomFillSync } from "node:crypto";

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const pool = Buffer.alloc(4096);
let used = pool.length;
/** Many ids are made in the same millisecond. */
let encodedMs = -1;
let encoded = "";
let turn = 0;

/**
 * 26 characters: 48 bits of time and two characters that count within a millisecond, so that what a process makes sorts
 * in the order it was made; then 70 random bits, so that none is guessed.
 * A row's `created_at` is the time in its id; paging by id is therefore paging by creation time.
 */
export function createId(nowMs: number): string {
  if (nowMs !== encodedMs) {
    encoded = encodeTime(nowMs);
    encodedMs = nowMs;
    turn = 0;
  }
  const counted = `${alphabet[(turn >> 5) & 31]}${alphabet[turn & 31]}`;
  turn++;
  return encoded + counted + randomText(14);
}

/** The smallest id of a moment, for "since" and "until" filters. */
export function firstIdAt(timeMs: number): string {
  return encodeTime(Math.max(0, timeMs)) + "0".repeat(16);
}

export function isId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}

export function randomText(length: number): string {
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet[(pool[used++] ?? 0) & 31];
  return text;
}

function encodeTime(timeMs: number): string {
  let rest = timeMs;
  let text = "";
  for (let i = 0; i < 10; i++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
