import { isLoopbackHost } from "../kernel/net/listen-address.ts";

export interface SendfileConfig {
  header: "X-Accel-Redirect" | "X-Sendfile";
  /** The object directory from the proxy's point of view, with a trailing slash. */
  prefix: string;
}

export type CdnPurgeConfig =
  | { driver: "cloudflare"; zoneId: string; token: string }
  | { driver: "fastly"; serviceId: string; token: string }
  | { driver: "http"; url: string };

export function sendfile(value: string): SendfileConfig {
  const [, name = "", prefix = ""] = /^([\w-]+):(\/(?:[\w.-]+\/)*)$/.exec(value) ?? [];
  const header = (["X-Accel-Redirect", "X-Sendfile"] as const).find(
    (known) => known.toLowerCase() === name.toLowerCase(),
  );
  if (header === undefined) {
    throw new Error(
      `must be like X-Accel-Redirect:/internal/objects/ or X-Sendfile:/srv/upstow/data/objects/, not "${value}"`,
    );
  }
  return { header, prefix };
}

/** The message never includes the value, which contains a token. */
export function cdnPurge(value: string): CdnPurgeConfig {
  const [, driver, id = "", token = ""] = /^(cloudflare|fastly):([\w-]+):([\x21-\x7e]+)$/.exec(value) ?? [];
  if (driver === "cloudflare") return { driver, zoneId: id, token };
  if (driver === "fastly") return { driver, serviceId: id, token };
  const url = URL.canParse(value) ? new URL(value) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
  if (url === null || !isSafe || url.username !== "" || url.password !== "") {
    throw new Error(
      "must be cloudflare:<zone id>:<token>, fastly:<service id>:<token> or an https URL without a user name",
    );
  }
  return { driver: "http", url: url.href };
}
