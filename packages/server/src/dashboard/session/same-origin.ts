import type { FastifyRequest } from "fastify";
import type { Config } from "../../config.ts";
import { AppError } from "../../kernel/errors.ts";
import { isLoopbackHost } from "../../kernel/net/loopback.ts";

const reading = new Set(["GET", "HEAD"]);

/**
 * A change is taken only from the dashboard's own pages. Browsers name the page's origin with every such request and
 * pages cannot forge it, so a request that names none did not come from a page of ours either.
 */
export function requireSameOrigin(config: Pick<Config, "publicUrl">, request: FastifyRequest): void {
  const { origin, host = "", "sec-fetch-site": site } = request.headers;
  const isOwnSite = site === undefined || site === "same-origin" || (site === "none" && isReading(request));
  const isOwnOrigin = origin === undefined ? isReading(request) : isOwn(config, origin, host);
  if (!isOwnSite || !isOwnOrigin) {
    throw new AppError("FORBIDDEN", "The dashboard takes requests from its own pages only.", {
      suggestion: "Open the dashboard at the service's public address (UPSTOW_PUBLIC_URL).",
    });
  }
}

function isReading(request: FastifyRequest): boolean {
  return reading.has(request.method);
}

function isOwn(config: Pick<Config, "publicUrl">, origin: string, host: string): boolean {
  if (origin === new URL(config.publicUrl).origin) return true;
  const isLoopback = isLoopbackHost(host.replace(/:\d+$/, ""));
  return isLoopback && (origin === `http://${host}` || origin === `https://${host}`);
}
