import type { EventPayload, EventType } from "../wire/webhooks.ts";
import { DeliveryError } from "./delivery-error.ts";
import { readHeader, type VerifiedDelivery, type VerifyInput, verifyDelivery } from "./verify-delivery.ts";

/** A genuine event. `messageId` is the same in every attempt: what was handled once can be skipped the next time. */
export interface WebhookEvent extends EventPayload, VerifiedDelivery {
  /** `test` is what the test call of a file route sends; its file does not exist. */
  type: EventType;
  /** Of your file router, or `route` of the metadata that you stored; null where there is none. */
  route: string | null;
}

export interface WebhookOptions {
  /** What is to be done. Throw to be sent the event again; longer work than 30 seconds belongs elsewhere. */
  onEvent: (event: WebhookEvent) => unknown;
  /** The URL that you gave the file route; `UPSTOW_WEBHOOK_URL` of the environment unless given. */
  url?: string | undefined;
  /** `UPSTOW_SIGNING_KEY` of the environment unless given. */
  currentKey?: string | undefined;
  /** `UPSTOW_NEXT_SIGNING_KEY` of the environment unless given. */
  nextKey?: string | undefined;
  /** Set to take test deliveries too, told apart by the event's `environment`; `UPSTOW_TEST_SIGNING_KEY` unless given. */
  testCurrentKey?: string | undefined;
  /** `UPSTOW_NEXT_TEST_SIGNING_KEY` of the environment unless given. */
  testNextKey?: string | undefined;
  /** Hears what `onEvent` threw and what is wrong with the settings; both go to the console unless given. */
  onError?: (error: unknown) => void;
}

export interface Answer {
  status: number;
  body: object;
}

/** From the request to what it is answered with: 200, 401 for whatever is not genuine, 500 to be asked again. */
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
    return refuse(500, "api_error", error.code, "The receiver is not set up.");
  }
}

export function readPayload(text: string): EventPayload & Pick<WebhookEvent, "route"> {
  const payload = JSON.parse(text) as EventPayload;
  const route = payload.file.metadata?.["route"];
  return { ...payload, route: typeof route === "string" ? route : null };
}

/** Only where nothing is signed, by a service of an older version, does the header count. */
function readType({ event }: VerifiedDelivery, headers: VerifyInput["headers"]): EventType {
  const isTest = event === null ? readHeader(headers, "delivery-event") === "test" : event === "webhook.test";
  return isTest ? "test" : "upload.completed";
}

export function refuse(status: number, type: string, code: string, message: string): Answer {
  return { status, body: { error: { type, code, message } } };
}

export const tooLarge = refuse(413, "invalid_request", "VALIDATION_ERROR", "The body is larger than 1 MiB.");

/** Read with each request: builds import modules in places where no secret is set. */
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
  throw new DeliveryError("BAD_CONFIGURATION", `Give the option ${option} or set ${name}.`);
}

function logError(error: unknown): void {
  // biome-ignore lint/suspicious/noConsole: an error that nobody sees costs somebody a day
  console.error("webhook handler:", error);
}
