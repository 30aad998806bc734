import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";

export interface SingleTarget {
  kind: "single";
  key: string;
  contentType: string;
  sizeBytes: number;
  expiresAt: number;
}

/** Uses the upload id instead of the key, so that 2,048 URLs stay short. */
export interface PartTarget {
  kind: "part";
  uploadId: string;
  partNumber: number;
  maxBytes: number;
  expiresAt: number;
}

export type UploadTarget = SingleTarget | PartTarget;

/** Tombstones outlive every URL, because none is valid for longer than this. */
export const longestUrlSec = 7 * 24 * 60 * 60;

export type SignUrl = (target: Unsigned<SingleTarget> | Unsigned<PartTarget>, expiresInSec: number) => string;
type Unsigned<Target> = Omit<Target, "expiresAt">;

/**
 * `<kind>.<expiry>.<facts…>.<signature>`: the path of a presigned URL. The signature covers the text itself, not
 * what it decodes to, so no second spelling of a token is valid.
 */
export interface UploadTokens {
  sign(target: UploadTarget): string;
  /** What a token allows. Null unless every byte of it is as signed. The caller checks its expiry. */
  find(token: string): UploadTarget | null;
}

/** The first key signs, all of them verify. */
export function createUploadTokens(keys: readonly KeyObject[]): UploadTokens {
  const [signingKey] = keys;
  if (signingKey === undefined) throw new Error("signing upload URLs needs a key");

  return {
    sign(target) {
      const facts = writeFacts(target);
      return `${facts}.${signatureOf(facts, signingKey)}`;
    },
    find(token) {
      const seam = token.lastIndexOf(".");
      const facts = token.slice(0, seam);
      const given = Buffer.from(token.slice(seam + 1));
      const genuine = keys.some((key) => {
        const expected = Buffer.from(signatureOf(facts, key));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      return genuine ? readFacts(facts) : null;
    },
  };
}

export function createUrlSigner(tokens: UploadTokens, baseUrl: () => string, now: () => number): SignUrl {
  return (target, expiresInSec) => {
    if (expiresInSec > longestUrlSec)
      throw new RangeError(`an upload URL lives ${longestUrlSec} seconds at most`);
    return baseUrl() + tokens.sign({ ...target, expiresAt: Math.floor(now() + expiresInSec * 1000) });
  };
}

function signatureOf(facts: string, key: KeyObject): string {
  return createHmac("sha256", key).update(`PUT ${facts}`).digest("base64url");
}

function writeFacts(target: UploadTarget): string {
  const expiry = target.expiresAt.toString(36);
  if (target.kind === "single")
    return `s.${expiry}.${target.sizeBytes}.${encode(target.contentType)}.${encode(target.key)}`;
  return `p.${expiry}.${target.maxBytes}.${target.partNumber}.${target.uploadId}`;
}

function readFacts(facts: string): UploadTarget | null {
  const fields = facts.split(".");
  // A dot inside a field would shift the fields after it.
  if (fields.length !== 5) return null;
  const [kind, expiry = "", size, fourth = "", fifth = ""] = fields;
  const expiresAt = Number.parseInt(expiry, 36);
  if (kind === "s") {
    return {
      kind: "single",
      expiresAt,
      sizeBytes: Number(size),
      contentType: decode(fourth),
      key: decode(fifth),
    };
  }
  if (kind === "p")
    return { kind: "part", expiresAt, maxBytes: Number(size), partNumber: Number(fourth), uploadId: fifth };
  return null;
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64url");
}

function decode(text: string): string {
  return Buffer.from(text, "base64url").toString();
}
