import type { EventPayload, EventType } from "../wire/webhooks.ts";
import { DeliveryError } from "./delivery-error.ts";
import { readHeader, type VerifiedDelivery, type VerifyInput, verifyDelivery } from "./verify-delivery.ts";

/** A verified event. `messageId` is the same in every attempt, so events already handled can be skipped. */
export interface WebhookEvent extends EventPayload, VerifiedDelivery {
  /** `test` is sent by a file route's test call; its file does not exist. */
  type: EventType;
  /** The name in your file router, or `route` in the metadata you stored; null if there is none. */
  route: string | null;
}

export interface WebhookOptions {
  /** Handles the event. Throw to have it redelivered; move work that takes longer than 30 seconds elsewhere. */
  onEvent: (event: WebhookEvent) => unknown;
  /** The file route's webhook URL. Defaults to the environment variable `UPSTOW_WEBHOOK_URL`. */
  url?: string | undefined;
  /** Defaults to the environment variable `UPSTOW_SIGNING_KEY`. */
  currentKey?: string | undefined;
  /** Defaults to the environment variable `UPSTOW_NEXT_SIGNING_KEY`. */
  nextKey?: string | undefined;
  /** Set it to accept test deliveries too, marked by the event's `environment`. Defaults to `UPSTOW_TEST_SIGNING_KEY`. */
  testCurrentKey?: string | undefined;
  /** Defaults to the environment variable `UPSTOW_NEXT_TEST_SIGNING_KEY`. */
  testNextKey?: string | undefined;
  /** Called with errors from `onEvent` and configuration errors. Default: logs them to the console. */
  onError?: (error: unknown) => void;
}

export interface Answer {
  status: number;
  body: object;
}

/** Turns a request into a response: 200, 401 if it is not genuine, 500 to have it redelivered. */
export async function receiveDelivery(
  options: WebhookOptions,
  { body, headers }: Pick<VerifyInput, "body" | "headers">,
): Promise<Answer> {
  const report = options.onError ?? logError;
  try {
    const verified = await verifyDelivery({ body, headers, ...readSettings(options) });
    const text = typeof body === "string" ? body : new TextDecoder().decode(body);
    await options.onEvent({ type: readType(verified, headers), ...readPayload(text), ...verified });
    return { status: 200, body: { ok: true } };
  } catch (error) {
    if (!(error instanceof DeliveryError)) {
      report(error);
      return refuse(500, "api_error", "CALLBACK_FAILED", "The event could not be handled.");
    }
    if (error.code !== "BAD_CONFIGURATION")
      return refuse(401, "authentication_error", error.code, error.message);
    report(error);
    return refuse(500, "api_error", error.code, "The receiver is not configured.");
  }
}

export function readPayload(text: string): EventPayload & Pick<WebhookEvent, "route"> {
  const payload = JSON.parse(text) as EventPayload;
  const route = payload.file.metadata?.["route"];
  return { ...payload, route: typeof route === "string" ? route : null };
}

/** The header counts only if an older service did not sign the value. */
function readType({ event }: VerifiedDelivery, headers: VerifyInput["headers"]): EventType {
  const isTest = event === null ? readHeader(headers, "delivery-event") === "test" : event === "webhook.test";
  return isTest ? "test" : "upload.completed";
}

export function refuse(status: number, type: string, code: string, message: string): Answer {
  return { status, body: { error: { type, code, message } } };
}

export const tooLarge = refuse(413, "invalid_request", "VALIDATION_ERROR", "The body is larger than 1 MiB.");

/** Read on each request, because builds import modules where no secrets are set. */
function readSettings(options: WebhookOptions) {
  const { url, currentKey, nextKey, testCurrentKey, testNextKey } = options;
  return {
    url: url ?? getVariable("UPSTOW_WEBHOOK_URL", "url"),
    currentKey: currentKey ?? getVariable("UPSTOW_SIGNING_KEY", "currentKey"),
    nextKey: nextKey ?? getVariable("UPSTOW_NEXT_SIGNING_KEY", "nextKey"),
    testCurrentKey: testCurrentKey ?? findVariable("UPSTOW_TEST_SIGNING_KEY"),
    testNextKey: testNextKey ?? findVariable("UPSTOW_NEXT_TEST_SIGNING_KEY"),
  };
}

function findVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

function getVariable(name: string, option: string): string {
  const value = findVariable(name);
  if (value !== undefined) return value;
  throw new DeliveryError("BAD_CONFIGURATION", `Pass the option ${option} or set ${name}.`);
}

function logError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody sees costs somebody a day
  console.error("webhook handler:", error);
}
