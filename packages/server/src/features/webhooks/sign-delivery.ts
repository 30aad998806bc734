import { createHash, createHmac } from "node:crypto";
import type { EventType } from "@upstow/contract";

export const ISSUER = "upstow";
const lifetimeSec = 300;

export interface DeliveryToSign {
  messageId: string;
  attemptId: string;
  /** From 1, over the message's whole life. */
  attempt: number;
  /** From 0, since the message was created or last redelivered. */
  retried: number;
  event: EventType;
  /** The receiving URL in the receiver's own words, so that a plain comparison holds; see `urlToSign`. */
  url: string;
  body: Uint8Array;
}

export interface KeysToSignWith {
  current: string;
  /** The key before the last rotation, for as long as receivers may still know only that one. */
  previous: string | null;
}

/** The headers that make a delivery provable: our own token, and the Standard Webhooks form beside it. */
export function signDelivery(
  delivery: DeliveryToSign,
  keys: KeysToSignWith,
  nowMs: number,
  issuer: string = ISSUER,
): Record<string, string> {
  const nowSec = Math.floor(nowMs / 1000);
  return {
    "delivery-signature": createToken(delivery, keys.current, nowSec, issuer),
    "delivery-message-id": delivery.messageId,
    "delivery-attempt": String(delivery.attempt),
    "delivery-retried": String(delivery.retried),
    "delivery-event": delivery.event,
    "webhook-id": delivery.messageId,
    "webhook-timestamp": String(nowSec),
    "webhook-signature": [keys.current, keys.previous]
      .filter((key) => key !== null)
      .map((key) => standardSignature(delivery, key, nowSec))
      .join(" "),
  };
}

function createToken(delivery: DeliveryToSign, key: string, nowSec: number, issuer: string): string {
  const header = { alg: "HS256", typ: "JWT", kid: keyIdOf(key) };
  const claims = {
    iss: issuer,
    sub: delivery.url,
    iat: nowSec,
    nbf: nowSec,
    exp: nowSec + lifetimeSec,
    jti: delivery.attemptId,
    msg: delivery.messageId,
    att: delivery.attempt,
    body: createHash("sha256").update(delivery.body).digest("base64url"),
  };
  const signed = `${encodeJson(header)}.${encodeJson(claims)}`;
  // The whole text of the key is the secret here; Standard Webhooks takes the bytes that it encodes.
  return `${signed}.${createHmac("sha256", key).update(signed).digest("base64url")}`;
}

function standardSignature(delivery: DeliveryToSign, key: string, nowSec: number): string {
  const hmac = createHmac("sha256", Buffer.from(key.slice("whsec_".length), "base64"));
  hmac.update(`${delivery.messageId}.${nowSec}.`).update(delivery.body);
  return `v1,${hmac.digest("base64")}`;
}

/** Not as parsing would spell it: `https://example.com` must not become `https://example.com/`. Fragments are never sent. */
export function urlToSign(given: string): string {
  return given.trim().replace(/#.*$/s, "");
}

export function keyIdOf(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 8);
}

function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
