/** What a link says; the service reads it from the address. */
export interface LinkFacts {
  fileId: string;
  signedAt: number;
  expiresAt: number;
  /** `i` shows it, `a` saves it under its own name, `n` under the last part of the address. */
  shown: "i" | "a" | "n";
}

export interface GrantFacts {
  signedAt: number;
  expiresAt: number;
  /** `r` a route, `p` a prefix of keys, `a` an audience. */
  scope: "r" | "p" | "a";
  value: string;
  subject: string;
}

/** `CryptoKey`, by a name that every runtime's types know. */
export type ReadKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const encoder = new TextEncoder();
const algorithm = { name: "HMAC", hash: "SHA-256" };

export function importReadKey(readKey: string): Promise<ReadKey> {
  return crypto.subtle.importKey("raw", encoder.encode(readKey), algorithm, false, ["sign"]);
}

/** The last two parts of a link's address. */
export async function signLink(key: ReadKey, facts: LinkFacts, name: string): Promise<string> {
  const { fileId, signedAt, expiresAt, shown } = facts;
  const text = ["l1", base36(signedAt), base36(expiresAt), fileId, shown, ""].join(".");
  return `${text}.${await hmac(key, `link\n${text}\n${name}`)}/${encodeURIComponent(name)}`;
}

export async function signGrant(key: ReadKey, facts: GrantFacts): Promise<string> {
  const { signedAt, expiresAt, scope, value, subject } = facts;
  const parts = ["g1", base36(signedAt), base36(expiresAt), scope, encode(value), encode(subject)];
  const text = parts.join(".");
  return `${text}.${await hmac(key, `grant\n${text}`)}`;
}

const base36 = (number: number) => number.toString(36);
const encode = (text: string) => base64url(encoder.encode(text));

async function hmac(key: ReadKey, text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
