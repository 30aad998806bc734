import { call, type Fetch } from "../http/call.ts";
import type { ErrorBody } from "../wire/errors.ts";

/** Options of a single call. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** Per attempt. */
  timeoutMs?: number;
  retries?: number;
}

export interface PostOptions extends RequestOptions {
  /** A POST repeated with the same key within 24 hours gets the first one's response. */
  idempotencyKey?: string;
  /** Called if the service already did this for an earlier call with the same key. */
  onReplay?: () => void;
}

export interface Connection {
  baseUrl: string;
  apiKey: string;
  fetch: Fetch;
  timeoutMs: number;
  retries: number;
  /** How long a call waits for the rate limit, in total. */
  rateLimitWaitMs: number;
  /** Called when such a wait begins. */
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
        // Makes retries of a POST safe: the first attempt may have been processed.
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

/** The same call, with the response unwrapped from its envelope. */
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

/** The response that lists failures, also where no file was found. */
export async function unlessNoneFound<Answer extends { failures: unknown[] }>(
  asked: Promise<Answer>,
): Promise<Answer> {
  try {
    return await asked;
  } catch (error) {
    const { error: _, ...answer } = ((error as Error).cause ?? {}) as Answer & Partial<ErrorBody>;
    if (answer.failures === undefined) throw error;
    return answer as unknown as Answer;
  }
}
