/** 12 s, 148 s and 1,808 s at the default base. */
const retryFactors = [1, 148 / 12, 1808 / 12];
const jitter = 0.2;
const retryAfterMaxMs = 3_600_000;

export const RETRIES = retryFactors.length;

export interface RetryRequest {
  /** Retries already made. */
  retried: number;
  allowed: number;
  baseMs: number;
  retryAfterMs: number | null;
  /** From 0 to 1. */
  random: number;
}

/** How long to wait before the next attempt, or null when there is none left. */
export function retryDelayMs(request: RetryRequest): number | null {
  const factor = retryFactors[request.retried];
  if (factor === undefined || request.retried >= request.allowed) return null;
  const spread = 1 - jitter + 2 * jitter * request.random;
  const scheduledMs = Math.round(request.baseMs * factor * spread);
  // A receiver that asks for less than the schedule would only use its retries up sooner.
  return Math.max(scheduledMs, Math.min(request.retryAfterMs ?? 0, retryAfterMaxMs));
}

/** Seconds or an HTTP date; anything else is as good as absent. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
