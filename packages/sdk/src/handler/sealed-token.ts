import { UpstowError } from "../errors.ts";

/** Lets a browser hold data that only this backend can read or write. */
export interface Seal {
  seal(purpose: string, payload: object, lifetimeMs: number): Promise<string>;
  /** Throws INVALID_TOKEN unless this backend sealed it for this purpose and it has not expired. */
  open<Payload>(purpose: string, token: unknown): Promise<Payload>;
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const ivBytes = 12;

/**
 * AES-GCM with a key derived from the API key: every instance of an application that has the key can open what
 * another one sealed; no one else can read or change it.
 */
export function createSeal(getSecret: () => string): Seal {
  let derived: Promise<Key> | null = null;
  const getKey = () => {
    derived ??= deriveKey(getSecret());
    return derived;
  };
  const algorithm = (iv: Uint8Array<ArrayBuffer>, purpose: string) => ({
    name: "AES-GCM",
    iv,
    additionalData: new TextEncoder().encode(purpose),
  });

  return {
    async seal(purpose, payload, lifetimeMs) {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
      const text = JSON.stringify({ payload, expiresAt: Date.now() + lifetimeMs });
      const sealed = await crypto.subtle.encrypt(
        algorithm(iv, purpose),
        await getKey(),
        new TextEncoder().encode(text),
      );
      return encode(new Uint8Array([...iv, ...new Uint8Array(sealed)]));
    },

    async open<Payload>(purpose: string, token: unknown): Promise<Payload> {
      const key = await getKey();
      try {
        const bytes = decode(String(token));
        const iv = bytes.slice(0, ivBytes);
        const opened = await crypto.subtle.decrypt(algorithm(iv, purpose), key, bytes.slice(ivBytes));
        const { payload, expiresAt } = JSON.parse(new TextDecoder().decode(opened));
        if (Date.now() < expiresAt) return payload;
      } catch {
        // The same error in every case, to reveal nothing to a forger.
      }
      throw new UpstowError("This upload was not started here, or its permission has expired.", {
        code: "INVALID_TOKEN",
        status: 403,
        suggestion: "Start the upload again.",
      });
    },
  };
}

async function deriveKey(secret: string): Promise<Key> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const material = await crypto.subtle.importKey("raw", bytes(secret), "HKDF", false, ["deriveKey"]);
  return crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: bytes("@upstow/sdk"), info: bytes("upload tokens v1") },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

function encode(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}
