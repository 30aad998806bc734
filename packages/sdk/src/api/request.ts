import { call, type Fetch } from "../http/call.ts";

/** For one call. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** For each attempt. */
  timeoutMs?: number;
  retries?: number;
}

export interface PostOptions extends RequestOptions {
  /** Repeats of a POST with the same key are answered as the first one was, for 24 hours. */
  idempotencyKey?: string;
  /** Called if the service had done this before, for an earlier call with the same key. */
  onReplay?: () => void;
}

export interface Connection {
  baseUrl: string;
  apiKey: string;
  fetch: Fetch;
  timeoutMs: number;
  retries: number;
  /** How long a call waits, in all, where the service says that there were too many. */
  rateLimitWaitMs: number;
  /** Called when a call begins to wait for that. */
  onWait?: ((seconds: number) => void) | undefined;
}

export type Request = <Answer>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  options?: PostOptions,
  body?: unknown,
  query?: object,
) => Promise<Answer>;

export function createRequest(connection: () => Connection): Request {
  return (method, path, options = {}, body, query) => {
    const { baseUrl, apiKey, fetch, onWait, ...defaults } = connection();
    const retries = options.retries ?? defaults.retries;
    return call({
      method,
      url: apiUrl(baseUrl, path, query),
      headers: {
        authorization: `Bearer ${apiKey}`,
        // Without it a POST could not be repeated: the first one may have been heard.
        ...(method === "POST" ? { "idempotency-key": options.idempotencyKey ?? crypto.randomUUID() } : {}),
      },
      body,
      timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
      signal: options.signal,
      fetch,
      onWait: (untilMs) => untilMs !== null && onWait?.(Math.ceil((untilMs - Date.now()) / 1000)),
      onResponse: ({ headers }) => headers.get("idempotency-replayed") === "true" && options.onReplay?.(),
      policy: { retries, baseDelayMs: 300, rateLimitWaitMs: retries === 0 ? 0 : defaults.rateLimitWaitMs },
    });
  };
}

/** The same call, its answer taken out of its envelope. */
export function pick<Key extends string, Item>(request: Request, key: Key) {
  return async (...args: Parameters<Request>): Promise<Item> =>
    (await request<Record<Key, Item>>(...args))[key];
}

export function pathTo(collection: string, id: string, rest = ""): string {
  return `/${collection}/${encodeURIComponent(id)}${rest}`;
}

export function apiUrl(baseUrl: string, path: string, query: object = {}): string {
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/api/v1${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}
