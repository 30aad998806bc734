import type { KeyType } from "../wire/projects.ts";
import { DeliveryError } from "./delivery-error.ts";
import { sha256, type Token } from "./token.ts";

export interface GivenKeys {
  /** If test keys are given below, the live environment's keys; otherwise those of either environment. */
  currentKey: string;
  nextKey: string;
  /** For receivers of deliveries from both environments. */
  testCurrentKey?: string | undefined;
  testNextKey?: string | undefined;
}

export interface SigningKey {
  text: string;
  /** Null if the receiver did not specify the key's environment. */
  environment: KeyType | null;
}

export function listKeys({ currentKey, nextKey, testCurrentKey, testNextKey }: GivenKeys): SigningKey[] {
  const testKeys = [testCurrentKey, testNextKey].filter((key) => key !== undefined);
  const environment = testKeys.length > 0 ? "live" : null;
  // In development, the same test keys may be passed twice; they still count as test keys.
  const otherKeys = [currentKey, nextKey].filter((key) => !testKeys.includes(key));
  const keys: SigningKey[] = [
    ...otherKeys.map((text) => ({ text, environment }) as const),
    ...testKeys.map((text) => ({ text, environment: "test" }) as const),
  ];
  if (keys.every(({ text }) => typeof text === "string" && text.startsWith("whsec_"))) return keys;
  throw new DeliveryError("BAD_CONFIGURATION", "Signing keys start with whsec_.");
}

/** The key that made the signature. If the token names none of them, all are tried. */
export async function checkSignature(token: Token, keys: SigningKey[]): Promise<SigningKey> {
  const ids = await Promise.all(keys.map(({ text }) => keyIdOf(text)));
  const named = keys.filter((_key, i) => ids[i] === token.keyId);
  for (const key of named.length > 0 ? named : keys) {
    if (await isSignedWith(token, key.text)) return key;
  }
  throw new DeliveryError("SIGNATURE_INVALID", "The signature matches none of the signing keys.");
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
