import { UpstowError } from "../errors.ts";
import type { PutBody } from "./put.ts";

export async function sha256Hex(body: PutBody): Promise<string> {
  const bytes = "size" in body ? await body.arrayBuffer() : body;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Whether the storage has these very bytes; null where that cannot be told. The service's own store, whose URLs
 * have no query, names bytes by the first half of their SHA-256. Other stores use sums that browsers cannot make,
 * and a page that is not served over HTTPS cannot make any.
 */
export async function isSame(body: PutBody, etag: string, url: string): Promise<boolean | null> {
  const seen = etag.replaceAll('"', "");
  if (url.includes("?") || seen === "" || crypto.subtle === undefined) return null;
  return (await sha256Hex(body)).slice(0, 32) === seen;
}

export function differs(): UpstowError {
  return new UpstowError("The stored bytes are not the ones that were sent.", { code: "CHECKSUM_MISMATCH" });
}

/** Counts what could be compared; a difference is thrown, so that the bytes are sent again. */
export function createVerifier() {
  let isComplete = true;
  return {
    /** True while every body seen so far was compared. */
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
