import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyType } from "@upstow/contract";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 of 62 characters are 190 random bits. */
const randomLength = 32;
const checksumLength = 6;
const pattern = /^svc_(?:live|test)_[0-9A-Za-z]{38}$/;

export interface ApiKeySecret {
  secret: string;
  hash: string;
  /** Enough to recognise a key, far too little to use it. */
  prefix: string;
}

export function createApiKeySecret(type: KeyType): ApiKeySecret {
  let random = "";
  for (let i = 0; i < randomLength; i++) random += alphabet[randomInt(alphabet.length)];
  const body = `svc_${type}_${random}`;
  const secret = body + checksum(body);
  return { secret, hash: hashApiKey(secret), prefix: `svc_${type}_${random.slice(0, 4)}…` };
}

/** The checksum lets secret scanners recognise keys, and lets us reject a mistyped one without a lookup. */
export function isApiKey(text: string): boolean {
  return pattern.test(text) && checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

export function hashApiKey(secret: string): string {
  return hash("sha256", secret);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
