import { DeliveryError } from "./delivery-error.ts";

export interface Token {
  keyId: string | null;
  claims: Record<string, unknown>;
  signedBytes: Uint8Array<ArrayBuffer>;
  signature: Uint8Array<ArrayBuffer>;
}

const signatureBytes = 32;

/** Parses a token and pins its algorithm. Nothing in it is trusted before the signature is verified. */
export function parseToken(text: string): Token {
  const [header, claims, signature, ...rest] = text.split(".");
  if (header === undefined || claims === undefined || signature === undefined || rest.length > 0) {
    throw malformed();
  }
  const head = parseJson(header);
  checkAlgorithm(head["alg"]);
  const bytes = decodeBase64Url(signature);
  if (bytes.length !== signatureBytes) throw malformed();
  return {
    keyId: typeof head["kid"] === "string" ? head["kid"] : null,
    claims: parseJson(claims),
    signedBytes: new TextEncoder().encode(`${header}.${claims}`),
    signature: bytes,
  };
}

function checkAlgorithm(algorithm: unknown): void {
  if (algorithm === "HS256") return;
  if (typeof algorithm === "string" && algorithm.toLowerCase() === "none") {
    throw new DeliveryError("SIGNATURE_NONE", "The token is not signed.");
  }
  throw new DeliveryError("ALGORITHM_REFUSED", "The token must be signed with HS256.");
}

function parseJson(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(decodeBase64Url(part)));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Falls through to the error below.
  }
  throw malformed();
}

function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]*$/.test(text)) throw malformed();
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (char) => char.charCodeAt(0));
  } catch {
    throw malformed();
  }
}

export function encodeBase64Url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function malformed(): DeliveryError {
  return new DeliveryError("SIGNATURE_MALFORMED", "Delivery-Signature is not a complete token.");
}
