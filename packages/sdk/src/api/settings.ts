import { UpstowError } from "../errors.ts";
import type { Fetch } from "../http/call.ts";
import type { Connection } from "./request.ts";

export interface UpstowOptions {
  /** Defaults to the environment variable `UPSTOW_API_KEY`. For servers only. */
  apiKey?: string | undefined;
  /** The service's URL, such as `https://files.example.com`. Defaults to the environment variable `UPSTOW_URL`. */
  baseUrl?: string | undefined;
  fetch?: Fetch;
  /** Signs links and grants. A secret like the API key; fetched by default. */
  readKey?: string | undefined;
  /** Base URL of links and grants, such as a CDN or custom domain. Default: `baseUrl`. */
  cdnUrl?: string | undefined;
  /** Per attempt. Default: 30 seconds. */
  timeoutMs?: number;
  /** How often a failed call is retried. Default: 3. With 0, calls never wait for a rate limit either. */
  retries?: number;
  /** Maximum concurrent request bodies across all uploads of this client. Default: no limit. */
  concurrency?: number;
  /** Called when a call has to wait for the rate limit, with the seconds until it is retried. */
  onWait?: (seconds: number) => void;
}

/** Read on the first call, because builds import modules where no secrets are set. */
export function readConnection(options: UpstowOptions, rateLimitWaitMs: number): () => Connection {
  let connection: Connection | undefined;
  return () => {
    connection ??= {
      apiKey: checkKey(options.apiKey ?? getVariable("UPSTOW_API_KEY", "apiKey")),
      baseUrl: checkUrl(options.baseUrl ?? getVariable("UPSTOW_URL", "baseUrl")),
      // Some runtimes reject a fetch that is called as a method of another object.
      fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 3,
      rateLimitWaitMs,
      onWait: options.onWait,
    };
    return connection;
  };
}

/** Characters that headers cannot carry, such as the ellipsis of an example, would look like a network error. */
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
    suggestion: `Set it in your server's environment, or pass the option ${option}.`,
  });
}

/** Undefined if the runtime has no environment. */
export function readEnvironment(): Record<string, string | undefined> | undefined {
  return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
}

/** False if it cannot be determined, and in an application's tests. */
export function isDevelopment(): boolean {
  const environment = readEnvironment();
  return environment !== undefined && !["production", "test"].includes(environment["NODE_ENV"] ?? "");
}
