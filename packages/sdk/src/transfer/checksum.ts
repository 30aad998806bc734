import { UpstowError } from "../errors.ts";
import type { PutBody } from "./put.ts";

export async function sha256Hex(body: PutBody): Promise<string> {
  const bytes = "size" in body ? await body.arrayBuffer() : body;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Whether the storage has exactly these bytes; null if unknown. The service's own store, whose URLs have no query,
 * uses the first half of the SHA-256 as etag. Other stores use checksums that browsers cannot compute, and a page not
 * served over HTTPS cannot compute any.
 */
export async function isSame(body: PutBody, etag: string, url: string): Promise<boolean | null> {
  const seen = etag.replaceAll('"', "");
  if (url.includes("?") || seen === "" || crypto.subtle === undefined) return null;
  return (await sha256Hex(body)).slice(0, 32) === seen;
}

export function differs(): UpstowError {
  return new UpstowError("The stored bytes differ from the bytes that were sent.", {
    code: "CHECKSUM_MISMATCH",
  });
}

/** Tracks what could be compared; throws on a difference, so that the bytes are sent again. */
export function createVerifier() {
  let isComplete = true;
  return {
    /** True while every body so far could be compared. */
    isComplete: () => isComplete,
    async check(body: PutBody, etag: string, url: string): Promise<void> {
      const same = await isSame(body, etag, url);
      if (same === null) isComplete = false;
      if (same !== false) return;
      throw differs();
    },
  };
}

export type Verifier = ReturnType<typeof createVerifier>;
