import type { DeliveryAttempt, DeliveryErrorClass } from "@upstow/contract";

const reasons: Record<DeliveryErrorClass, string> = {
  timeout: "The receiver did not answer within 30 seconds. Answer 2xx first and do longer work afterwards.",
  dns: "The name in the URL could not be found. Check its spelling and its DNS records.",
  refused: "Nothing listens at that address and port.",
  unreachable: "There is no way through the network to that address.",
  tls: "The certificate was not accepted: expired, for another name, or from an unknown authority.",
  reset: "The connection broke before there was an answer.",
  blocked: "The URL leads to an address that is not public, which this service never calls.",
  redirect: "The receiver redirected. Deliveries follow no redirects: give the final URL.",
  client_error: "The receiver refused it. Often the signature is checked with another key or another URL.",
  server_error: "The receiver failed while handling it.",
  invalid_response: "The answer was not valid HTTP.",
  interrupted: "This service stopped before it could note the outcome. The attempt may have arrived.",
  internal: "Something went wrong on the side of this service.",
};

/** Why an attempt failed, and what to do about it; empty for one that did not. */
export function reasonOf({ error }: Pick<DeliveryAttempt, "error">): string {
  return error === null ? "" : reasons[error];
}
