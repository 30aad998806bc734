import { AppError } from "./errors.ts";

/** Counts requests in fixed windows that start at a window's first request. */
export interface RateLimiter {
  hit(name: string, limit: number): Promise<RateLimitResult>;
  /**
   * Counts a request in its own window and, if that has room, in a wider shared one. Takes no more round trips than
   * `hit`.
   */
  hitBoth(own: RateWindow, shared: RateWindow): Promise<RateLimitPair>;
}

export interface RateWindow {
  name: string;
  limit: number;
}

export interface RateLimitResult {
  isAllowed: boolean;
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  resetSec: number;
}

export interface RateLimitPair {
  own: RateLimitResult;
  /** Null if the request's own window is full: requests rejected there do not count toward the shared one. */
  shared: RateLimitResult | null;
}

export function rateLimitResult(count: number, limit: number, msLeft: number): RateLimitResult {
  return {
    isAllowed: count <= limit,
    remaining: Math.max(0, limit - count),
    resetSec: Math.max(1, Math.ceil(msLeft / 1000)),
  };
}

export function rateLimited(hit: RateLimitResult): AppError {
  return new AppError("RATE_LIMITED", `Rate limit exceeded. Retry after ${hit.resetSec} seconds.`, {
    headers: { "retry-after": String(hit.resetSec) },
  });
}
