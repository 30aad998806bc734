import { createSecretKey, hash, type KeyObject } from "node:crypto";

/** What signing needs of a key. */
export interface PreparedKey {
  tokenHead: string;
  tokenSecret: KeyObject;
  standardSecret: KeyObject;
}

const mostPrepared = 1_000;
const prepared = new Map<string, PreparedKey>();

/** Making keys ready takes several times as long as signing with them, and few keys sign many deliveries. */
export function prepareKey(key: string): PreparedKey {
  let ready = prepared.get(key);
  if (ready === undefined) {
    ready = {
      tokenHead: encodeJson({ alg: "HS256", typ: "JWT", kid: keyIdOf(key) }),
      // The whole text of the key is the secret here; Standard Webhooks takes the bytes that it encodes.
      tokenSecret: createSecretKey(key, "utf8"),
      standardSecret: createSecretKey(key.slice("whsec_".length), "base64"),
    };
    if (prepared.size >= mostPrepared) prepared.clear();
    prepared.set(key, ready);
  }
  return ready;
}

export function keyIdOf(key: string): string {
  return hash("sha256", key).slice(0, 8);
}

/** As the parts of a token are written. */
export function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
