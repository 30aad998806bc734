import { UpstowError } from "../errors.ts";
import type { Fetch } from "../http/call.ts";
import type { Connection } from "./request.ts";

export interface UpstowOptions {
  /** `UPSTOW_API_KEY` of the environment unless given. It belongs on servers only. */
  apiKey?: string | undefined;
  /** Where the service is, such as `https://files.example.com`. `UPSTOW_URL` unless given. */
  baseUrl?: string | undefined;
  fetch?: Fetch;
  /** For each attempt; 30 seconds unless given. */
  timeoutMs?: number;
  /** How often a call that failed is repeated; 3 unless given. 0 also never waits for a rate limit. */
  retries?: number;
  /** Bodies under way at once, over all uploads of this client; no limit unless given. */
  concurrency?: number;
  /** Called when a call is held back by the rate limit, with the seconds until it is repeated. */
  onWait?: (seconds: number) => void;
}

/** Read when the first call is made: builds import modules in places where no secret is set. */
export function readConnection(options: UpstowOptions, rateLimitWaitMs: number): () => Connection {
  let connection: Connection | undefined;
  return () => {
    connection ??= {
      apiKey: checkKey(options.apiKey ?? getVariable("UPSTOW_API_KEY", "apiKey")),
      baseUrl: checkUrl(options.baseUrl ?? getVariable("UPSTOW_URL", "baseUrl")),
      // Some runtimes refuse a fetch that is called as a method of something else.
      fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 3,
      rateLimitWaitMs,
      onWait: options.onWait,
    };
    return connection;
  };
}

/** What no header can carry, such as the ellipsis of an example, would look like a service that does not answer. */
function checkKey(key: string): string {
  if (/^[!-~]+\s*$/.test(key)) return key;
  throw new UpstowError("apiKey or UPSTOW_API_KEY is not an API key.", { code: "VALIDATION_ERROR" });
}

function checkUrl(url: string): string {
  if (/^https?:/i.test(url) && URL.canParse(url)) return url;
  throw new UpstowError(`baseUrl or UPSTOW_URL is not an http(s) URL: "${url}".`, {
    code: "VALIDATION_ERROR",
  });
}

function getVariable(name: string, option: string): string {
  const value = readEnvironment()?.[name];
  if (value) return value;
  throw new UpstowError(`${name} is not set.`, {
    code: "VALIDATION_ERROR",
    suggestion: `Set it in the environment of your server, or give the option ${option}.`,
  });
}

/** Undefined where the runtime has none. */
export function readEnvironment(): Record<string, string | undefined> | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
}

/** Never where it cannot be known, nor in an application's tests. */
export function isDevelopment(): boolean {
  const environment = readEnvironment();
  return environment !== undefined && !["production", "test"].includes(environment["NODE_ENV"] ?? "");
}
