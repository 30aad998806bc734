import type { FileListItem, Upstow } from "@upstow/sdk";
import { type Call, OperatorError, UsageError } from "./command.ts";
import { type Credentials, findCredentials } from "./credentials.ts";

export const defaultUrl = "http://localhost:4000";

/** The service and its key, from the environment or the last `upstow login`. */
export function getConnection({ env }: Pick<Call, "env">): Credentials {
  const { UPSTOW_URL: url, UPSTOW_API_KEY: apiKey } = env;
  // Never send a saved key to a service other than the one it was saved with.
  if (apiKey) return { url: readServiceUrl("UPSTOW_URL", url || defaultUrl), apiKey };
  const saved = findCredentials(env);
  if (saved !== null && (!url || readServiceUrl("UPSTOW_URL", url) === saved.url)) return saved;
  throw new OperatorError(
    "UNAUTHORIZED",
    saved === null
      ? "You are not signed in. Run `upstow login`, or set UPSTOW_URL and UPSTOW_API_KEY."
      : `UPSTOW_URL is ${url}, but you are signed in to ${saved.url}. Set UPSTOW_API_KEY too, or run \`upstow login --url ${url}\`.`,
  );
}

/** The client that commands call the service with. */
export async function connect(call: Pick<Call, "env" | "note">, options: { concurrency?: number } = {}) {
  const { url, apiKey } = getConnection(call);
  const { createUpstow } = await import("@upstow/sdk");
  let waitsUntilMs = 0;
  const onWait = (seconds: number) => {
    // Several calls may wait for the same rate limit window.
    if (Date.now() >= waitsUntilMs) call.note(`Rate limit reached. Continuing in ${seconds} s.`);
    waitsUntilMs = Math.max(waitsUntilMs, Date.now() + seconds * 1000);
  };
  return createUpstow({ baseUrl: url, apiKey, onWait, ...options });
}

const loopbackHost = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

/** Without a trailing slash. Plain HTTP exposes the key, so it is allowed for this machine only. */
export function readServiceUrl(what: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what} must be a URL such as https://files.example.com, not "${text}".`);
  }
  if (url.protocol === "http:" && !loopbackHost.test(url.hostname)) {
    throw new OperatorError(
      "CONFIGURATION",
      `${what} must start with https://, because plain HTTP would expose the key.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** A private file is read with a link instead of its URL. */
export async function readableUrl(upstow: Upstow, { key, url, access }: FileListItem): Promise<string> {
  if (access !== "private") return url;
  const { links } = await upstow.links.create({ keys: [key] });
  return links[0]?.url ?? url;
}
