import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Environment, EventType } from "@upstow/contract";

export const ISSUER = "upstow";
const lifetimeSec = 300;

/** `Delivery-Event` keeps a test's short name, because older receivers expect it there. */
const signedEvents: Record<EventType, string> = {
  "upload.completed": "upload.completed",
  test: "webhook.test",
};

export interface DeliveryToSign {
  messageId: string;
  attemptId: string;
  /** Starts at 1 and counts over the message's whole life. */
  attempt: number;
  /** Starts at 0 when the message is created or redelivered. */
  retried: number;
  event: EventType;
  environment: Environment;
  /** The route's slug when the event happened. */
  routeSlug: string;
  /** The receiving URL exactly as the receiver wrote it, so that a plain comparison works; see `urlToSign`. */
  url: string;
  body: Uint8Array;
}

export interface KeysToSignWith {
  current: string;
  /** The key before the last rotation, while receivers may still know only that one. */
  previous: string | null;
}

/** The headers that authenticate a delivery: our own token, and the Standard Webhooks format. */
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
    "delivery-environment": delivery.environment,
    "delivery-route": delivery.routeSlug,
    "webhook-id": delivery.messageId,
    "webhook-timestamp": String(nowSec),
    "webhook-signature": [keys.current, keys.previous]
      .filter((key) => key !== null)
      .map((key) => standardSignature(delivery, key, nowSec))
      .join(" "),
  };
}

function createToken(delivery: DeliveryToSign, key: string, nowSec: number, issuer: string): string {
  const { tokenHead, tokenSecret } = prepareKey(key);
  const claims = {
    iss: issuer,
    sub: delivery.url,
    iat: nowSec,
    nbf: nowSec,
    exp: nowSec + lifetimeSec,
    jti: delivery.attemptId,
    msg: delivery.messageId,
    att: delivery.attempt,
    evt: signedEvents[delivery.event],
    env: delivery.environment,
    body: hash("sha256", delivery.body, "base64url"),
  };
  const signed = `${tokenHead}.${encodeJson(claims)}`;
  return `${signed}.${createHmac("sha256", tokenSecret).update(signed).digest("base64url")}`;
}

function standardSignature(delivery: DeliveryToSign, key: string, nowSec: number): string {
  const hmac = createHmac("sha256", prepareKey(key).standardSecret);
  hmac.update(`${delivery.messageId}.${nowSec}.`).update(delivery.body);
  return `v1,${hmac.digest("base64")}`;
}

/** Not normalised: `https://example.com` must not become `https://example.com/`. Fragments are never sent. */
export function urlToSign(given: string): string {
  return given.trim().replace(/#.*$/s, "");
}

/** A key prepared for signing. */
interface PreparedKey {
  tokenHead: string;
  tokenSecret: KeyObject;
  standardSecret: KeyObject;
}

const mostPrepared = 1_000;
const prepared = new Map<string, PreparedKey>();

/** Preparing keys takes several times as long as signing with them, and few keys sign many deliveries. */
function prepareKey(key: string): PreparedKey {
  let ready = prepared.get(key);
  if (ready === undefined) {
    ready = {
      tokenHead: encodeJson({ alg: "HS256", typ: "JWT", kid: keyIdOf(key) }),
      // The whole text of the key is the secret here; Standard Webhooks uses the bytes that it encodes.
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

/** The encoding of a token's parts. */
function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
