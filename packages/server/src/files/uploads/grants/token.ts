import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { isId } from "../../../kernel/ids.ts";
import type { Keyring } from "../../../kernel/security/keyring.ts";

const idLength = 26;

/**
 * `<prefix><id><signature>`: an id that only this service can have given out. Nothing in it has to be kept secret from
 * the database, so a repeated call can be given the same token.
 */
export interface SignedIds {
  sign(id: string): string;
  /** The id in a genuine token; null otherwise. */
  read(token: string): string | null;
}

/** The first key signs, all of them verify. */
export function createSignedIds(keyring: Keyring, purpose: string, prefix: string): SignedIds {
  const keys = keyring.keysFor(purpose);
  const [signingKey] = keys;
  if (signingKey === undefined) throw new Error("signing ids needs a key");
  return {
    sign: (id) => prefix + id + signatureOf(id, signingKey),
    read(token) {
      if (!token.startsWith(prefix)) return null;
      const id = token.slice(prefix.length, prefix.length + idLength);
      const given = Buffer.from(token.slice(prefix.length + idLength));
      if (!isId(id)) return null;
      const isGenuine = keys.some((key) => {
        const expected = Buffer.from(signatureOf(id, key));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      return isGenuine ? id : null;
    },
  };
}

const signatureOf = (id: string, key: KeyObject) =>
  createHmac("sha256", key).update(id).digest("base64url").slice(0, 32);
