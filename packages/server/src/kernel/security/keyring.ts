import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";

/**
 * Keys for every purpose, derived from the installation's secrets. The first secret signs and encrypts, all of
 * them verify and decrypt, so a secret is replaced by putting the new one in front.
 */
export interface Keyring {
  /** Signing keys of one purpose, newest first. Derived once; using a KeyObject again is cheap. */
  keysFor(purpose: string): KeyObject[];
  encrypt(text: string, purpose: string): string;
  decrypt(sealed: string, purpose: string): string;
  /** The same text sealed with the first secret; null if it already is, or if no secret opens it. */
  reseal(sealed: string, purpose: string): string | null;
  /** Identifies an installation's secret without revealing anything about it. */
  checks: string[];
}

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

export function createKeyring(secrets: readonly string[]): Keyring {
  const derived = new Map<string, KeyObject[]>();
  const keysFor = (purpose: string): KeyObject[] => {
    let keys = derived.get(purpose);
    if (keys === undefined) {
      keys = secrets.map((secret) =>
        createSecretKey(Buffer.from(hkdfSync("sha256", secret, "upstow", purpose, keyBytes))),
      );
      derived.set(purpose, keys);
    }
    return keys;
  };
  const sealingKeysFor = (purpose: string) => keysFor(`encrypt ${purpose}`);
  const idOf = (key: KeyObject) => createHmac("sha256", key).update("key id").digest("hex").slice(0, 8);

  const keyring: Keyring = {
    keysFor,
    checks: keysFor("installation check").map(idOf),
    encrypt(text, purpose) {
      const [key] = sealingKeysFor(purpose);
      if (key === undefined) throw new Error("the keyring has no secret");
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${idOf(key)}.${sealed.toString("base64url")}`;
    },
    decrypt(sealed, purpose) {
      const [id, payload = ""] = sealed.split(".");
      const key = sealingKeysFor(purpose).find((candidate) => idOf(candidate) === id);
      if (key === undefined)
        throw new Error(`no secret in UPSTOW_SECRET opens what was sealed with key ${id}`);
      const bytes = Buffer.from(payload, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivBytes));
      decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
      const text = decipher.update(bytes.subarray(ivBytes, bytes.length - tagBytes));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
    reseal(sealed, purpose) {
      const [, ...older] = sealingKeysFor(purpose).map(idOf);
      const isOlder = older.includes(sealed.split(".")[0] ?? "");
      return isOlder ? keyring.encrypt(keyring.decrypt(sealed, purpose), purpose) : null;
    },
  };
  return keyring;
}
