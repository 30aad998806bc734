import { DeliveryError } from "./delivery-error.ts";
import { encodeBase64Url, parseToken, type Token } from "./token.ts";

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyInput {
  /** The body exactly as it arrived, before any parsing. */
  body: string | Uint8Array;
  /** The URL that you gave the file route, however proxies in between rewrote the request. */
  url: string;
  /** Of the request: a Headers object, or names with values as Node has them. */
  headers: { get(name: string): string | null } | HeaderRecord;
  currentKey: string;
  nextKey: string;
}

export interface VerifiedDelivery {
  /** The same in every attempt: what was handled once can be skipped the next time. */
  messageId: string;
  /** From 1. */
  attempt: number;
  signedAt: Date;
}

const issuer = "upstow";
const toleranceSec = 30;

/** Resolves when the delivery is genuine, meant for this URL and fresh; rejects with a `DeliveryError` otherwise. */
export async function verifyDelivery(input: VerifyInput): Promise<VerifiedDelivery> {
  const url = normaliseUrl(input.url);
  if (url === null) throw new DeliveryError("BAD_CONFIGURATION", "url must be an absolute URL.");
  const text = readHeader(input.headers, "delivery-signature");
  if (text === null || text === "") {
    throw new DeliveryError("SIGNATURE_MISSING", "The header Delivery-Signature is missing.");
  }
  const token = parseToken(text);
  await checkSignature(token, [input.currentKey, input.nextKey]);
  checkClaims(token.claims, url, Date.now() / 1000);
  await checkBody(token.claims, input.body);
  const { msg: messageId, att: attempt, iat } = token.claims;
  if (typeof messageId !== "string" || typeof attempt !== "number" || typeof iat !== "number") {
    throw new DeliveryError("SIGNATURE_MALFORMED", "The token lacks a claim.");
  }
  checkHeader(input.headers, "delivery-message-id", messageId, "MESSAGE_MISMATCH");
  checkHeader(input.headers, "delivery-attempt", String(attempt), "ATTEMPT_MISMATCH");
  return { messageId, attempt, signedAt: new Date(iat * 1000) };
}

/** The token names its key; one that names neither is tried with both, in case the name was lost on the way. */
async function checkSignature(token: Token, keys: string[]): Promise<void> {
  for (const key of keys) {
    if (typeof key !== "string" || !key.startsWith("whsec_")) {
      throw new DeliveryError("BAD_CONFIGURATION", "Signing keys begin with whsec_.");
    }
  }
  const ids = await Promise.all(keys.map(keyIdOf));
  const named = keys.filter((_key, i) => ids[i] === token.keyId);
  for (const key of named.length > 0 ? named : keys) {
    if (await isSignedWith(token, key)) return;
  }
  throw new DeliveryError("SIGNATURE_INVALID", "Neither signing key made this signature.");
}

async function isSignedWith(token: Token, key: string): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(key), algorithm, false, [
    "verify",
  ]);
  return crypto.subtle.verify("HMAC", secret, token.signature, token.signedBytes);
}

async function keyIdOf(key: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(key));
  return Array.from(digest.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function checkClaims(claims: Record<string, unknown>, url: string, nowSec: number): void {
  if (claims["iss"] !== issuer) {
    throw new DeliveryError("ISSUER_MISMATCH", "The token was issued by somebody else.");
  }
  if (normaliseUrl(claims["sub"]) !== url) {
    throw new DeliveryError("URL_MISMATCH", "The delivery was signed for another URL.");
  }
  if (typeof claims["exp"] !== "number" || nowSec > claims["exp"] + toleranceSec) {
    throw new DeliveryError("EXPIRED", "The signature has expired.");
  }
  if (typeof claims["nbf"] !== "number" || nowSec < claims["nbf"] - toleranceSec) {
    throw new DeliveryError("NOT_YET_VALID", "The signature is from the future; check the clock.");
  }
}

async function checkBody(claims: Record<string, unknown>, body: string | Uint8Array): Promise<void> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : Uint8Array.from(body);
  if (claims["body"] !== encodeBase64Url(await sha256(bytes))) {
    throw new DeliveryError("BODY_MISMATCH", "The body is not the one that was signed.");
  }
}

/** Proxies may drop these headers; what must not happen is that one says something else than the signature. */
function checkHeader(
  headers: VerifyInput["headers"],
  name: string,
  expected: string,
  code: "MESSAGE_MISMATCH" | "ATTEMPT_MISMATCH",
): void {
  const given = readHeader(headers, name);
  if (given !== null && given !== expected) {
    throw new DeliveryError(code, `The header ${name} is not what was signed.`);
  }
}

export function readHeader(headers: VerifyInput["headers"], name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const record = headers as HeaderRecord;
  const key = Object.keys(record).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : record[key];
  return (typeof value === "object" ? value[0] : value) ?? null;
}

/** As the request line and Host header would spell it: `https://Host:443` is `https://host/`. */
function normaliseUrl(url: unknown): string | null {
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
