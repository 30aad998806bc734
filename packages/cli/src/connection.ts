import { type Call, OperatorError, UsageError } from "./command.ts";
import { type Credentials, findCredentials } from "./credentials.ts";

export const defaultUrl = "http://localhost:4000";

/** The service and the key to talk to it with: of the environment, or of the last `upstow login`. */
export function getConnection({ env }: Pick<Call, "env">): Credentials {
  const { UPSTOW_URL: url, UPSTOW_API_KEY: apiKey } = env;
  // A key never meets a service that it was not given for: those of a login stay together.
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

/** What a command asks the service through. */
export async function connect(call: Pick<Call, "env" | "note">, options: { concurrency?: number } = {}) {
  const { url, apiKey } = getConnection(call);
  const { createUpstow } = await import("@upstow/sdk");
  let waitsUntilMs = 0;
  const onWait = (seconds: number) => {
    // Several calls may wait for the same window.
    if (Date.now() >= waitsUntilMs) call.note(`Rate limit reached. Continuing in ${seconds} s.`);
    waitsUntilMs = Math.max(waitsUntilMs, Date.now() + seconds * 1000);
  };
  return createUpstow({ baseUrl: url, apiKey, onWait, ...options });
}

const loopbackHost = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

/** Without its last slash. Plain HTTP would show the key to everybody on the way, so it stays on this machine. */
export function readServiceUrl(what: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${what} must be like https://files.example.com, not "${text}".`);
  }
  if (url.protocol === "http:" && !loopbackHost.test(url.hostname)) {
    throw new OperatorError(
      "CONFIGURATION",
      `${what} must begin with https://, so that nobody on the way sees the key.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}
