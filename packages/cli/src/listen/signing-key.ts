import type { Upstow } from "@upstow/sdk";

const freshMs = 60_000;

/** The key that signs now. Read again now and then, since it may be rotated meanwhile. */
export function createSigningKey(upstow: Upstow, first: string): () => Promise<string> {
  let known = first;
  let readAt = Date.now();
  return async () => {
    if (Date.now() - readAt < freshMs) return known;
    readAt = Date.now();
    try {
      known = (await upstow.webhooks.signingKeys.get({ retries: 0 })).current;
    } catch {
      // The service is away for a moment; receivers that know the old pair accept the old key.
    }
    return known;
  };
}
