import type { Upstow } from "@upstow/sdk";

const freshMs = 60_000;

/** The current signing key. Refreshed now and then, because it may be rotated. */
export function createSigningKey(upstow: Upstow, first: string): () => Promise<string> {
  let known = first;
  let readAt = Date.now();
  return async () => {
    if (Date.now() - readAt < freshMs) return known;
    readAt = Date.now();
    try {
      known = (await upstow.webhooks.signingKeys.get({ retries: 0 })).current;
    } catch {
      // The service is briefly unavailable; receivers with the old pair still accept the old key.
    }
    return known;
  };
}
