import type { Config } from "../../config.ts";
import { isLoopbackHost } from "../../net/loopback.ts";

/**
 * Stops a web page from using a visitor's browser to reach an instance that only the visitor can reach: the page's
 * origin shows in Origin, and a rebound name shows in Host.
 */
export function isCalledAsItself(config: Config, host: string, origin: string | undefined): boolean {
  const own = [config.publicUrl, config.cdnUrl].map((url) => new URL(url));
  const isOwnHost = own.some((url) => url.host === host) || isLoopbackHost(host.replace(/:\d+$/, ""));
  if (!isOwnHost || origin === undefined) return isOwnHost;
  return (
    config.allowedOrigins.includes(origin) ||
    own.some((url) => url.origin === origin) ||
    (URL.canParse(origin) && new URL(origin).host === host)
  );
}
