import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { isId } from "../../kernel/ids.ts";

/** Shown in the browser, or downloaded under the file's name or the link's. */
export type Shown = "inline" | "download" | "named";

interface Signed {
  /** Milliseconds, like `expiresAt`. A revocation ends everything signed at that moment or earlier. */
  signedAt: number;
  expiresAt: number;
}

/** The right to read one file. */
export interface LinkFacts extends Signed {
  fileId: string;
  shown: Shown;
  /** Set if uses are counted. */
  countedId: string | null;
}

export type ScopeKind = "route" | "prefix" | "audience";

/** The right to read every file of the signing project that the scope covers at the time of reading. */
export interface GrantFacts extends Signed {
  scope: { kind: ScopeKind; value: string };
  /** For logs only. */
  subject: string;
}

/** A parsed token, untrusted until `isGenuine`. */
export interface Claim<Facts> {
  /** Tells it apart from every other. */
  id: string;
  facts: Facts;
  text: string;
  signature: string;
}

const shownLetters: Record<Shown, string> = { inline: "i", download: "a", named: "n" };
const scopeLetters: Record<ScopeKind, string> = { route: "r", prefix: "p", audience: "a" };
/** Tolerated clock skew of signers. */
const mostAheadMs = 60_000;

export function signLink(key: KeyObject, facts: LinkFacts, name: string): string {
  const { signedAt, expiresAt, fileId, shown, countedId } = facts;
  const parts = ["l1", base36(signedAt), base36(expiresAt), fileId, shownLetters[shown], countedId ?? ""];
  const text = parts.join(".");
  return `${text}.${hmac(key, linkText(text, name))}`;
}

export function signGrant(key: KeyObject, facts: GrantFacts): string {
  const { signedAt, expiresAt, scope, subject } = facts;
  const text = [
    "g1",
    base36(signedAt),
    base36(expiresAt),
    scopeLetters[scope.kind],
    encode(scope.value),
    encode(subject),
  ].join(".");
  return `${text}.${hmac(key, grantText(text))}`;
}

/** Null if it is malformed. `name` is the URL's last segment, decoded. */
export function readLink(token: string, name: string): Claim<LinkFacts> | null {
  const { text, parts, signature } = split(token);
  const [version, signedAt = "", expires = "", fileId = "", letter = "", countedId = "", ...rest] = parts;
  const shown = findByLetter(shownLetters, letter);
  if (version !== "l1" || !isId(fileId) || shown === null || rest.length > 0) return null;
  if (countedId !== "" && !isId(countedId)) return null;
  const facts = {
    signedAt: fromBase36(signedAt),
    expiresAt: fromBase36(expires),
    fileId,
    shown,
    countedId: countedId === "" ? null : countedId,
  };
  return { id: `${token}/${name}`, facts, text: linkText(text, name), signature };
}

export function readGrant(token: string): Claim<GrantFacts> | null {
  const { text, parts, signature } = split(token);
  const [version, signedAt = "", expires = "", letter = "", scope = "", subject = "", ...rest] = parts;
  const kind = findByLetter(scopeLetters, letter);
  if (version !== "g1" || kind === null || rest.length > 0) return null;
  const facts = {
    signedAt: fromBase36(signedAt),
    expiresAt: fromBase36(expires),
    scope: { kind, value: decode(scope) },
    subject: decode(subject),
  };
  return { id: `${token}/`, facts, text: grantText(text), signature };
}

/** Whether one of the keys signed it, for no longer than allowed. */
export function isGenuine<Facts extends Signed>(
  { facts, text, signature }: Claim<Facts>,
  keys: readonly KeyObject[],
  mostSec: number,
  now: number,
): boolean {
  const { signedAt, expiresAt } = facts;
  const isPossible = expiresAt - signedAt <= mostSec * 1000 && signedAt <= now + mostAheadMs;
  return isPossible && keys.some((key) => isEqual(signature, hmac(key, text)));
}

const linkText = (text: string, name: string) => `link\n${text}\n${name}`;
const grantText = (text: string) => `grant\n${text}`;

function split(token: string): { text: string; parts: string[]; signature: string } {
  const dot = token.lastIndexOf(".");
  const text = token.slice(0, Math.max(0, dot));
  return { text, parts: text.split("."), signature: token.slice(dot + 1) };
}

function findByLetter<Name extends string>(letters: Record<Name, string>, letter: string): Name | null {
  for (const name in letters) if (letters[name] === letter) return name;
  return null;
}

const base36 = (number: number) => number.toString(36);
const fromBase36 = (text: string) => (/^[0-9a-z]{1,10}$/.test(text) ? Number.parseInt(text, 36) : 0);
const encode = (text: string) => Buffer.from(text).toString("base64url");
const decode = (text: string) => Buffer.from(text, "base64url").toString();

function hmac(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Compares the text, because several texts decode to the same bytes. */
function isEqual(given: string, expected: string): boolean {
  const [givenBytes, expectedBytes] = [Buffer.from(given), Buffer.from(expected)];
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
