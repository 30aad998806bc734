/** Counts requests in fixed windows that start at a bucket's first request. */
export interface RateLimiter {
  /** Answers at once where nobody else has to be asked. */
  hit(bucket: string, limit: number): RateLimitResult | Promise<RateLimitResult>;
}

export interface RateLimitResult {
  isAllowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSec: number;
}

export function rateLimitResult(count: number, limit: number, msLeft: number): RateLimitResult {
  return {
    isAllowed: count <= limit,
    remaining: Math.max(0, limit - count),
    resetSec: Math.max(1, Math.ceil(msLeft / 1000)),
  };
}
