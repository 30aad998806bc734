export type UrlCheck = { ok: true; url: URL } | { ok: false; reason: string };

const MAX_URL_LENGTH = 2048;
const tooLong = refuse(`The URL must not be longer than ${MAX_URL_LENGTH} characters.`);

/**
 * The rules for a user-supplied URL that need no network access. The parsed URL is what must be stored and called:
 * parsing turns `0x7f.1`, `2130706433` and `127。0。0。1` into the address they mean. Callers that allow plain http must
 * check the address more strictly, as the outbound guard does.
 */
export function parseOutboundUrl(raw: string, { plainHttp = false } = {}): UrlCheck {
  if (raw.length > MAX_URL_LENGTH) return tooLong;
  if (!URL.canParse(raw)) {
    return refuse("The URL is not valid; give it in full, like https://example.com/path.");
  }
  const url = new URL(raw);
  if (url.protocol !== "https:" && !(plainHttp && isPlainHttp(url))) {
    return refuse("The URL must start with https://.");
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("The URL must not contain a user name or a password.");
  }
  // An empty label (`127.0.0.1..`) is not a valid DNS name, and resolvers treat it differently.
  if (withoutRootDot(url.hostname).split(".").includes("")) {
    return refuse("The host name in the URL is not valid.");
  }
  // A fragment is never sent, so a signature over the URL must not cover it.
  url.hash = "";
  if (url.href.length > MAX_URL_LENGTH) return tooLong;
  return { ok: true, url };
}

export function isPlainHttp(url: URL): boolean {
  return url.protocol === "http:";
}

/** The name or address to connect to: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

export function isLocalhostName(hostname: string): boolean {
  const name = withoutRootDot(hostname).toLowerCase();
  return name === "localhost" || name.endsWith(".localhost");
}

function withoutRootDot(hostname: string): string {
  return hostname.replace(/\.$/, "");
}

function refuse(reason: string): UrlCheck {
  return { ok: false, reason };
}
