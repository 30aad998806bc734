import type { ReceivedEvent } from "@upstow/sdk";
import { classifyError, classifyStatus } from "@upstow/server/kernel/net/classify-failure";
import { version } from "@upstow/server/kernel/version";
import { signDelivery, urlToSign } from "@upstow/server/webhooks/sign-delivery";

export interface Outcome {
  statusCode: number | null;
  /** Null on success, otherwise the error class that a delivery shows. */
  error: string | null;
  /** The beginning of the response, unless it was a success. */
  response: string;
  durationMs: number;
}

export interface Attempt {
  /** As the user typed it. */
  target: string;
  /** Starts at 1. */
  number: number;
  signingKey: string;
  signal: AbortSignal;
}

/** The same as for a real delivery. */
const deadlineMs = 30_000;
const responseMaxLength = 200;

/** Sends the request that the service would send, signed for the local URL. Rejects only if aborted. */
export async function sendLocally(event: ReceivedEvent, attempt: Attempt): Promise<Outcome> {
  const { target, number, signingKey, signal } = attempt;
  const body = Buffer.from(event.body);
  const signed = signDelivery(
    {
      messageId: event.messageId,
      attemptId: `${event.messageId.replace(/^msg_/, "att_")}_${number}`,
      attempt: number,
      retried: number - 1,
      event: event.event,
      environment: "test", // `listen` accepts test keys only.
      routeSlug: event.routeSlug,
      url: urlToSign(target),
      body,
    },
    { current: signingKey, previous: null },
    Date.now(),
  );
  const startedAt = performance.now();
  const end = (outcome: Omit<Outcome, "durationMs">): Outcome => ({
    ...outcome,
    durationMs: Math.round(performance.now() - startedAt),
  });
  const deadline = AbortSignal.timeout(deadlineMs);
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { ...signed, "content-type": "application/json", "user-agent": `Upstow/${version}` },
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, deadline]),
    });
    const text = await response.text();
    const error = classifyStatus(response.status);
    return end({
      statusCode: response.status,
      error,
      response: error === null ? "" : text.slice(0, responseMaxLength),
    });
  } catch (error) {
    signal.throwIfAborted();
    return end({ statusCode: null, error: deadline.aborted ? "timeout" : classify(error), response: "" });
  }
}

/** fetch reports connection errors as the cause of its own error. */
function classify(error: unknown): string {
  const { cause = error } = error as { cause?: { code?: unknown } };
  return (cause as { code?: unknown }).code === "UND_ERR_SOCKET" ? "reset" : classifyError(cause);
}
