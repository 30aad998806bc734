import type { KeyType } from "../wire/projects.ts";
import { DeliveryError } from "./delivery-error.ts";
import { checkSignature, type GivenKeys, listKeys, type SigningKey } from "./signing-keys.ts";
import { encodeBase64Url, parseToken, sha256 } from "./token.ts";

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyInput extends GivenKeys {
  /** The body exactly as it arrived, before any parsing. */
  body: string | Uint8Array;
  /** The file route's webhook URL, regardless of how proxies rewrote the request. */
  url: string;
  /** The request's headers: a Headers object, or a Node-style object. */
  headers: { get(name: string): string | null } | HeaderRecord;
}

/** Later versions may add more. */
export type DeliveryEvent = "upload.completed" | "webhook.test" | (string & {});

export interface VerifiedDelivery {
  /** The same in every attempt, so deliveries already handled can be skipped. */
  messageId: string;
  /** Starts at 1. */
  attempt: number;
  signedAt: Date;
  /** `webhook.test` is a file route's test; its file does not exist. Null if the service predates this claim. */
  event: DeliveryEvent | null;
  /** Null if the service predates this claim and no test keys were given. */
  environment: KeyType | null;
}

const issuer = "upstow";
const toleranceSec = 30;

/** Resolves if the delivery is genuine, for this URL and recent; otherwise rejects with a `DeliveryError`. */
export async function verifyDelivery(input: VerifyInput): Promise<VerifiedDelivery> {
  const url = normaliseUrl(input.url);
  if (url === null) throw new DeliveryError("BAD_CONFIGURATION", "url must be an absolute URL.");
  const text = readHeader(input.headers, "delivery-signature");
  if (text === null || text === "") {
    throw new DeliveryError("SIGNATURE_MISSING", "The header Delivery-Signature is missing.");
  }
  const token = parseToken(text);
  const signedWith = await checkSignature(token, listKeys(input));
  checkClaims(token.claims, url, Date.now() / 1000);
  await checkBody(token.claims, input.body);
  const { msg: messageId, att: attempt, iat } = token.claims;
  if (typeof messageId !== "string" || typeof attempt !== "number" || typeof iat !== "number") {
    throw new DeliveryError("SIGNATURE_MALFORMED", "The token is missing a claim.");
  }
  checkHeader(input.headers, "delivery-message-id", messageId, "MESSAGE_MISMATCH");
  checkHeader(input.headers, "delivery-attempt", String(attempt), "ATTEMPT_MISMATCH");
  const event = readEvent(token.claims, input.headers);
  const environment = readEnvironment(token.claims, input.headers, signedWith);
  return { messageId, attempt, signedAt: new Date(iat * 1000), event, environment };
}

function readEvent(claims: Record<string, unknown>, headers: VerifyInput["headers"]): DeliveryEvent | null {
  const event = typeof claims["evt"] === "string" ? claims["evt"] : null;
  // The header uses the short name for tests.
  if (event !== null) {
    const inHeader = event === "webhook.test" ? "test" : event;
    checkHeader(headers, "delivery-event", inHeader, "EVENT_MISMATCH");
  }
  return event;
}

/** Test keys are guarded less carefully, so they must not be able to sign live deliveries. */
function readEnvironment(
  claims: Record<string, unknown>,
  headers: VerifyInput["headers"],
  { environment: ofKey }: SigningKey,
): KeyType | null {
  const { env: claimed } = claims;
  const environment = claimed === "live" || claimed === "test" ? claimed : ofKey;
  if (environment === null) return null;
  if (ofKey !== null && ofKey !== environment) {
    throw new DeliveryError(
      "ENVIRONMENT_MISMATCH",
      `A ${environment} delivery was signed with a ${ofKey} key.`,
    );
  }
  checkHeader(headers, "delivery-environment", environment, "ENVIRONMENT_MISMATCH");
  return environment;
}

function checkClaims(claims: Record<string, unknown>, url: string, nowSec: number): void {
  if (claims["iss"] !== issuer) {
    throw new DeliveryError("ISSUER_MISMATCH", "The token has a different issuer.");
  }
  if (normaliseUrl(claims["sub"]) !== url) {
    throw new DeliveryError("URL_MISMATCH", "The delivery was signed for a different URL.");
  }
  if (typeof claims["exp"] !== "number" || nowSec > claims["exp"] + toleranceSec) {
    throw new DeliveryError("EXPIRED", "The signature has expired.");
  }
  if (typeof claims["nbf"] !== "number" || nowSec < claims["nbf"] - toleranceSec) {
    throw new DeliveryError("NOT_YET_VALID", "The signature is from the future; check the clock.");
  }
}

async function checkBody(claims: Record<string, unknown>, body: string | Uint8Array): Promise<void> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : Uint8Array.from(body);
  if (claims["body"] !== encodeBase64Url(await sha256(bytes))) {
    throw new DeliveryError("BODY_MISMATCH", "The body differs from the one that was signed.");
  }
}

/** Proxies may drop these headers, but none may contradict the signature. */
function checkHeader(
  headers: VerifyInput["headers"],
  name: string,
  expected: string,
  code: "MESSAGE_MISMATCH" | "ATTEMPT_MISMATCH" | "EVENT_MISMATCH" | "ENVIRONMENT_MISMATCH",
): void {
  const given = readHeader(headers, name);
  if (given !== null && given !== expected) {
    throw new DeliveryError(code, `The header ${name} differs from the signed value.`);
  }
}

export function readHeader(headers: VerifyInput["headers"], name: string): string | null {
  if (typeof headers.get === "function") return headers.get(name);
  const record = headers as HeaderRecord;
  const key = Object.keys(record).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : record[key];
  return (typeof value === "object" ? value[0] : value) ?? null;
}

/** Normalised as in the request line and Host header: `https://Host:443` becomes `https://host/`. */
function normaliseUrl(url: unknown): string | null {
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}
