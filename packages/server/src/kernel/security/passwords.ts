import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

export interface PasswordCost {
  N: number;
  r: number;
  p: number;
}

/** 64 MiB per guess. The parameters are stored with each hash, so that they can be raised later. */
const fullCost: PasswordCost = { N: 2 ** 16, r: 8, p: 2 };
const keyBytes = 32;
const maxmem = 256 * 1024 * 1024;

export async function hashPassword(password: string, cost = fullCost): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password.normalize("NFKC"), salt, keyBytes, { ...cost, maxmem });
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, N, r, p, salt, key] = hash.split("$");
  if (scheme !== "scrypt" || salt === undefined || key === undefined) return false;
  const expected = Buffer.from(key, "base64url");
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem };
  const actual = await derive(
    password.normalize("NFKC"),
    Buffer.from(salt, "base64url"),
    expected.length,
    options,
  );
  return timingSafeEqual(actual, expected);
}
