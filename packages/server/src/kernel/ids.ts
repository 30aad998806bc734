import { randomFillSync } from "node:crypto";

const alphabet = Buffer.from("0123456789abcdefghjkmnpqrstvwxyz");
const timeLength = 10;
const pool = Buffer.alloc(4096);
let used = pool.length;
/** The last id as bytes, because a string built letter by letter allocates many. */
const last = Buffer.alloc(26);
/** Many ids are created in the same millisecond. */
let lastMs = -1;
let turn = 0;

/**
 * 26 characters: 48 bits of time and two characters that count within a millisecond, so that a process's ids sort in
 * the order they were created; then 70 random bits, so that none can be guessed. A row's `created_at` is the time in
 * its id; paging by id is therefore paging by creation time.
 */
export function createId(nowMs: number): string {
  if (nowMs !== lastMs) {
    writeTime(last, nowMs);
    lastMs = nowMs;
    turn = 0;
  }
  last[timeLength] = letter(turn >> 5);
  last[timeLength + 1] = letter(turn);
  turn++;
  writeRandom(last, timeLength + 2);
  return last.toString("latin1");
}

/** The smallest id of a moment, for "since" and "until" filters. */
export function firstIdAt(timeMs: number): string {
  const id = Buffer.alloc(last.length, "0");
  writeTime(id, Math.max(0, timeMs));
  return id.toString("latin1");
}

export function timeOfId(id: string): number {
  let timeMs = 0;
  for (const sign of id.slice(0, timeLength)) timeMs = timeMs * alphabet.length + alphabet.indexOf(sign);
  return timeMs;
}

export function isId(text: string): boolean {
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);
}

export function randomText(length: number): string {
  const text = Buffer.alloc(length);
  writeRandom(text, 0);
  return text.toString("latin1");
}

function writeRandom(text: Buffer, start: number): void {
  if (used + text.length - start > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  for (let i = start; i < text.length; i++) text[i] = letter(pool[used++] ?? 0);
}

function writeTime(text: Buffer, timeMs: number): void {
  let rest = timeMs;
  for (let i = timeLength - 1; i >= 0; i--) {
    text[i] = letter(rest % 32);
    rest = Math.floor(rest / 32);
  }
}

/** Of five bits. */
function letter(bits: number): number {
  return alphabet[bits & 31] as number;
}
