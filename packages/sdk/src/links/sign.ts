/** A link's claims; the service reads them from the URL. */
export interface LinkFacts {
  fileId: string;
  signedAt: number;
  expiresAt: number;
  /** `i` shows it, `a` saves it under its own name, `n` under the URL's last segment. */
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

/** Signs a text with a read key, which it doesn't reveal: HMAC-SHA256 in base64url. */
export type Sign = (text: string) => string | Promise<string>;

const encoder = new TextEncoder();
const algorithm = { name: "HMAC", hash: "SHA-256" };

/** Prefers Node's own HMAC: WebCrypto takes a multiple, because it hands every signature to another thread. */
export async function importReadKey(readKey: string): Promise<Sign> {
  const bytes = encoder.encode(readKey);
  const node = findNodeCrypto();
  if (node !== undefined) {
    const key = node.createSecretKey(bytes);
    return (text) => node.createHmac("sha256", key).update(text).digest("base64url");
  }
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  return async (text) =>
    base64url(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))));
}

function findNodeCrypto() {
  try {
    return globalThis.process?.getBuiltinModule?.("node:crypto");
  } catch {
    // Next's edge runtime has the function, and throws.
    return undefined;
  }
}

/** The last two segments of a link's URL. */
export async function signLink(sign: Sign, facts: LinkFacts, name: string): Promise<string> {
  const { fileId, signedAt, expiresAt, shown } = facts;
  const text = ["l1", base36(signedAt), base36(expiresAt), fileId, shown, ""].join(".");
  return `${text}.${await sign(`link\n${text}\n${name}`)}/${encodeURIComponent(name)}`;
}

export async function signGrant(sign: Sign, facts: GrantFacts): Promise<string> {
  const { signedAt, expiresAt, scope, value, subject } = facts;
  const parts = ["g1", base36(signedAt), base36(expiresAt), scope, encode(value), encode(subject)];
  const text = parts.join(".");
  return `${text}.${await sign(`grant\n${text}`)}`;
}

const base36 = (number: number) => number.toString(36);
const encode = (text: string) => base64url(encoder.encode(text));

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
