import type { Config } from "../../config.ts";
import { isLoopbackHost } from "../../kernel/net/loopback.ts";

/**
 * Stops a web page from using a visitor's browser to reach an instance that only the visitor can reach: browsers send
 * the page's origin with every POST. That it is the same as Host says nothing, because a rebound name shows in both.
 */
export function isOwnOrigin(
  config: Pick<Config, "publicUrl" | "cdnUrl" | "allowedOrigins">,
  host: string,
  origin: string | undefined,
): boolean {
  if (origin === undefined || config.allowedOrigins.includes(origin)) return true;
  const own = [config.publicUrl, config.cdnUrl].map((url) => new URL(url));
  if (own.some((url) => url.origin === origin)) return true;
  const called = URL.parse(`http://${host}`);
  const isOwnHost =
    called !== null &&
    (isLoopbackHost(called.hostname) || own.some((url) => url.hostname === called.hostname));
  return isOwnHost && URL.parse(origin)?.hostname === called.hostname;
}
