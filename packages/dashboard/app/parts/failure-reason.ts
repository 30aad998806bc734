import type { DeliveryAttempt, DeliveryErrorClass } from "@upstow/contract";

const reasons: Record<DeliveryErrorClass, string> = {
  timeout:
    "Your endpoint did not respond within 30 seconds. Respond with 2xx first and do longer work afterwards.",
  dns: "The host name could not be resolved. Check its spelling and its DNS records.",
  refused: "Connection refused: nothing is listening on that port.",
  unreachable: "The network has no route to that address.",
  tls: "The certificate was rejected: expired, for another name, or from an unknown authority.",
  reset: "The connection was closed before a response arrived.",
  blocked: "The URL resolves to an address that is not public, which this service never calls.",
  redirect: "Your endpoint redirected. Deliveries don't follow redirects: set the final URL.",
  client_error:
    "Your endpoint rejected the delivery. Often the signature is verified with the wrong key or URL.",
  server_error: "Your endpoint failed while handling the delivery.",
  invalid_response: "The response was not valid HTTP.",
  interrupted: "This service stopped before it could record the outcome. The attempt may have arrived.",
  internal: "Something went wrong in this service.",
};

/** Why an attempt failed, and what to do about it; empty for one that did not. */
export function reasonOf({ error, statusCode }: Pick<DeliveryAttempt, "error" | "statusCode">): string {
  if (error === null) return "";
  return statusCode === null ? reasons[error] : `Your endpoint returned ${statusCode}. ${reasons[error]}`;
}

const short: Partial<Record<string, string>> = {
  dns: "DNS",
  tls: "TLS",
  client_error: "4xx",
  server_error: "5xx",
};

/** The response code, or a word for why there is none. */
export function outcomeOf(attempt: { statusCode: number | null; error: string | null }): string {
  if (attempt.statusCode !== null) return String(attempt.statusCode);
  if (attempt.error === null) return "In progress";
  const text = short[attempt.error] ?? attempt.error.replaceAll("_", " ");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export const deliveryLabels: Record<string, string> = {
  pending: "Pending",
  delivered: "Delivered",
  dead: "Failed",
};
