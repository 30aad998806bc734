import type { FastifyRequest } from "fastify";
import { type RateLimitResult, rateLimited, rateLimitResult } from "../../kernel/rate-limiter.ts";
import { createShortMemory } from "../../kernel/short-memory.ts";
import { findSessionCookie } from "./visitor.ts";

const mostRemembered = 10_000;

/** Uploads have their own window, so that uploading hundreds of files does not lock the user out of every page. */
export function windowOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.rateWindow === "upload" ? "dashboard-upload" : "dashboard";
}

/**
 * Sessions that have used up a window. Verifying a cookie and reading its session cost more than the rest of a refusal,
 * so that hundreds of refused requests at once would block everyone.
 */
export interface FullWindows {
  /** Throws if the request's session was already refused in this window. */
  refuse(request: FastifyRequest): void;
  remember(request: FastifyRequest, hit: RateLimitResult): void;
}

export function createFullWindows(): FullWindows {
  const endings = createShortMemory<number>(mostRemembered);
  const nameOf = (request: FastifyRequest) => `${windowOf(request)}:${findSessionCookie(request)}`;
  return {
    refuse(request) {
      const msLeft = (endings.find(nameOf(request)) ?? 0) - performance.now();
      if (msLeft > 0) throw rateLimited(rateLimitResult(1, 0, msLeft));
    },
    remember(request, { resetSec }) {
      endings.remember(nameOf(request), performance.now() + resetSec * 1000);
    },
  };
}
