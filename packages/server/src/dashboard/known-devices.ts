import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { Deps } from "../deps.ts";
import { findAccountByEmail } from "../projects/accounts/queries.ts";
import { findPasswordHash } from "./queries.ts";

type DeviceDeps = Pick<Deps, "db" | "keyring">;

interface KnownAccount {
  id: string;
  passwordHash: string;
}

/**
 * What a browser keeps after a sign-in, to be told from strangers who guess at the same account. It opens nothing: it
 * only has a limit of tries of its own. It ends with the password, so that whoever knew the old one is a stranger.
 * Null for an account without a password.
 */
export async function markDevice(
  { db, keyring }: DeviceDeps,
  accountId: string,
  given: string | null,
): Promise<string | null> {
  const found = await db.get(findPasswordHash, { accountId });
  if (found === null || found.password_hash === null) return null;
  const account = { id: accountId, passwordHash: found.password_hash };
  if (findName(keyring, given, account) !== null) return given;
  const [key] = signingKeys(keyring);
  if (key === undefined) throw new Error("the keyring holds no secret");
  const name = randomBytes(12).toString("base64url");
  return `${name}.${signatureOf(key, account, name).toString("base64url")}`;
}

/** The name of a device that has signed in to the account before; null for every other. */
export async function findKnownDevice(
  { db, keyring }: DeviceDeps,
  email: string,
  mark: string | null,
): Promise<string | null> {
  if (mark === null) return null;
  const account = await db.get(findAccountByEmail, { email });
  if (account === null || account.password_hash === null) return null;
  return findName(keyring, mark, { id: account.id, passwordHash: account.password_hash });
}

function findName(keyring: Deps["keyring"], mark: string | null, account: KnownAccount): string | null {
  const [, name = "", text = ""] = /^([\w-]{16})\.([\w-]{43})$/.exec(mark ?? "") ?? [];
  const signature = Buffer.from(text, "base64url");
  const isKnown = signingKeys(keyring).some((key) => {
    const expected = signatureOf(key, account, name);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isKnown ? name : null;
}

function signatureOf(key: KeyObject, { id, passwordHash }: KnownAccount, name: string): Buffer {
  return createHmac("sha256", key).update(`${id}\n${passwordHash}\n${name}`).digest();
}

function signingKeys(keyring: Deps["keyring"]): KeyObject[] {
  return keyring.keysFor("known devices");
}
