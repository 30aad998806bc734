import { createHmac, hash, type KeyObject, timingSafeEqual } from "node:crypto";
import { listExtras, type Recipe } from "./recipe.ts";
import type { RequestedFormat } from "./render/render-job.ts";

/**
 * Both lists hold keys made once with `createSecretKey` (a raw key costs a multiple per signature).
 * The first key signs; all verify, so that a secret can be replaced while its URLs are still out.
 */
export interface VariantSecrets {
  signedSecrets: readonly KeyObject[];
  publicSecrets: readonly KeyObject[];
}

/** The parts of a variant URL, exactly as in its path. */
export interface VariantClaim {
  signature: string;
  recipe: string;
  key: string;
}

export interface VariantSigner {
  signPublic(recipe: string, key: string): string;
  signExpiring(expires: string, recipe: string, key: string): string;
  verifyPublic(claim: VariantClaim): boolean;
  /** Also false once the URL has expired. */
  verifyExpiring(claim: VariantClaim & { expires: string }, nowSec: number): boolean;
}

const hourSec = 3600;

/** Whole hours, so that all requests within one hour get the same, cacheable URL. */
export function getSignedExpirySec(nowSec: number): number {
  return Math.floor(nowSec / hourSec) * hourSec + 25 * hourSec;
}

/**
 * The expiry as it appears in the URL. For private files it includes the last revocation (`mark`), so that the next one
 * ends the URL.
 */
export function formatExpiry(sec: number, mark: number | null): string {
  return mark === null ? String(sec) : `${sec}-${mark.toString(36)}`;
}

export function readExpiry(text: string): { sec: number; mark: number | null } {
  const [, sec, mark] = /^(\d+)(?:-([0-9a-z]+))?$/.exec(text) ?? [];
  return { sec: Number(sec), mark: mark === undefined ? null : Number.parseInt(mark, 36) };
}

export function createVariantSigner({ signedSecrets, publicSecrets }: VariantSecrets): VariantSigner {
  const signed = createKeyring(signedSecrets);
  const open = createKeyring(publicSecrets);
  return {
    signPublic: (recipe, key) => open.sign(`public\n${recipe}\n${key}`),
    signExpiring: (expires, recipe, key) => signed.sign(`${expires}\n${recipe}\n${key}`),
    verifyPublic: ({ signature, recipe, key }) => open.verify(signature, `public\n${recipe}\n${key}`),
    verifyExpiring: ({ signature, expires, recipe, key }, nowSec) =>
      signed.verify(signature, `${expires}\n${recipe}\n${key}`) && nowSec < readExpiry(expires).sec,
  };
}

function createKeyring(secrets: readonly KeyObject[]) {
  const [current] = secrets;
  if (current === undefined) throw new Error("A variant signer needs at least one secret of each kind.");

  return {
    sign: (text: string) => hmac(current, text),
    verify(signature: string, text: string): boolean {
      // The text is compared, not what it decodes to: several last characters decode to the same bytes.
      const given = Buffer.from(signature);
      let matched = false;
      for (const secret of secrets) {
        const expected = Buffer.from(hmac(secret, text));
        if (given.length === expected.length && timingSafeEqual(given, expected)) matched = true;
      }
      return matched;
    },
  };
}

function hmac(secret: KeyObject, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/** Identifies one rendered image: the file, its options, the selected format, and its focus point where that is used. */
export function variantId(
  fileId: string,
  recipe: Recipe,
  format: RequestedFormat,
  focus: string | null = null,
): string {
  const { width, height, fit, quality, gravity } = recipe;
  const parts = [fileId, width ?? "", height ?? "", fit, quality, format, ...listExtras(recipe)];
  return hash("sha256", [...parts, ...(gravity === "focus" ? [focus ?? ""] : [])].join("\n"));
}

/**
 * Next to the file in the store; a file's own name contains no slash, so nothing else can have this key. Every render
 * has its own key, so that removing an old one late can never hit a new one.
 */
export function variantStoreKey(fileKey: string, id: string, claim: string): string {
  return `${fileKey.slice(0, fileKey.lastIndexOf("/"))}/variants/${id}-${claim}`;
}

/** The id in the key of a stored variant; null for any other key. */
export function findVariantId(storeKey: string): string | null {
  return /\/variants\/([0-9a-f]{64})-[^/]+$/.exec(storeKey)?.[1] ?? null;
}
