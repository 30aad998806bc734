export type KeyVerdict = { fit: true } | { fit: false; reason: string } | { fit: "unknown"; reason: string };

const patienceMs = 2000;

/**
 * Whether a key may transform images: it must be a live key on a paid plan. Failing to find out says nothing about the
 * key, so that is a separate result.
 */
export async function judgeKey(baseUrl: string, apiKey: string): Promise<KeyVerdict> {
  if (!apiKey.startsWith("svc_live_")) return { fit: false, reason: "it does not start with svc_live_" };
  try {
    const response = await fetch(`${baseUrl}/api/v1/usage`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(patienceMs),
    });
    const answer = (await response.json()) as { tier?: unknown; error?: { code?: unknown } } | null;
    if (typeof answer?.tier === "string") return judgeTier(answer.tier);
    if (answer?.error?.code === "UNAUTHORIZED") return { fit: false, reason: "the service rejects it" };
    if (answer?.error?.code === "RATE_LIMITED") {
      return { fit: "unknown", reason: "the key has reached its rate limit" };
    }
  } catch {
    // Unavailable, too slow, or another program that doesn't respond with JSON.
  }
  return { fit: "unknown", reason: "the service does not respond" };
}

function judgeTier(tier: string): KeyVerdict {
  return tier === "free" ? { fit: false, reason: "its plan is Free" } : { fit: true };
}
