import { UpstowError } from "../errors.ts";
import type { ErrorBody } from "../wire/errors.ts";
import { backoffMs, longestMs, stoppable, wait } from "./wait.ts";

export type Fetch = typeof globalThis.fetch;

export interface RetryPolicy {
  /** How often a failed call is retried. */
  retries: number;
  baseDelayMs: number;
  /** How long a call may wait for the rate limit, in total. */
  rateLimitWaitMs: number;
}

export interface CallRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: unknown;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  fetch: Fetch;
  policy: RetryPolicy;
  /** Runs before every attempt. `failures` does not count rate limits: at 0, the service has not done anything yet. */
  before?: (failures: number) => Promise<void>;
  /** A wait for the rate limit begins, until this time, or ends (null). */
  onWait?: ((untilMs: number | null) => void) | undefined;
  /** Cancels such a wait before the service has done anything, for calls that must not be interrupted otherwise. */
  waitSignal?: AbortSignal | undefined;
  onResponse?: ((response: Response) => void) | undefined;
}

/** One JSON call, retried while that may help. */
export async function call<Answer>(request: CallRequest): Promise<Answer> {
  const { policy, signal } = request;
  let waitedMs = 0;
  for (let attempt = 0; ; ) {
    try {
      await request.before?.(attempt);
      return await callOnce<Answer>(request, attempt > 0);
    } catch (error) {
      if (!(error instanceof UpstowError)) throw error;
      const pauseMs = pauseFor(error, attempt, policy.baseDelayMs);
      const isLimited = error.code === "RATE_LIMITED";
      if (isLimited) waitedMs += pauseMs;
      else if (!mayPass(error) || attempt++ >= policy.retries) throw error;
      // Fail immediately if the required wait exceeds the call's limit.
      if (Math.max(waitedMs, pauseMs - longestMs) > policy.rateLimitWaitMs) throw error;
      // Callers rejected together get the same delay, so add jitter to keep them from returning together.
      const jitteredMs = pauseMs * (1 + Math.random() / 4);
      await (isLimited ? waitOpenly(request, jitteredMs, attempt) : wait(jitteredMs, signal));
    }
  }
}

/** The delay the service asks for, or exponential backoff. */
export function pauseFor({ retryAfter = 0 }: UpstowError, attempt: number, baseDelayMs: number): number {
  return retryAfter * 1000 || backoffMs(attempt, baseDelayMs);
}

/** Waits for the rate limit and reports it. */
async function waitOpenly(request: CallRequest, ms: number, failures: number): Promise<void> {
  const { signal, waitSignal, onWait } = request;
  onWait?.(Date.now() + ms);
  try {
    await wait(ms, signal ?? (failures === 0 ? waitSignal : undefined));
  } finally {
    onWait?.(null);
  }
}

async function callOnce<Answer>(request: CallRequest, isRepeat: boolean): Promise<Answer> {
  const { method, body, headers } = request;
  // A body that JSON cannot represent is the caller's mistake, not a network error.
  const json = JSON.stringify(body);
  const { response, text } = await exchange({
    ...request,
    body: json,
    headers: json === undefined ? headers : { ...headers, "content-type": "application/json" },
  });
  request.onResponse?.(response);
  const answer = parseJson(text);
  if (response.ok && answer !== undefined) return answer as Answer;
  // The first attempt may have succeeded, with only its response lost.
  if (method === "DELETE" && body === undefined && isRepeat && response.status === 404)
    return { ok: true } as Answer;
  throw toError(response, answer);
}

interface Exchange
  extends Pick<CallRequest, "method" | "url" | "headers" | "timeoutMs" | "signal" | "fetch"> {
  body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** One request and its whole response. */
export function exchange(request: Exchange): Promise<{ response: Response; text: string }> {
  const { url, method, headers, body, signal, timeoutMs } = request;
  return stoppable([signal], timeoutMs, async (stop) => {
    try {
      const response = await request.fetch(url, { method, headers, body: body ?? null, signal: stop.signal });
      return { response, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      const isTimeout = stop.signal.aborted;
      throw new UpstowError(`No response from ${url}${isTimeout ? ` within ${timeoutMs} ms` : ""}.`, {
        code: isTimeout ? "TIMEOUT" : "NETWORK_ERROR",
        cause,
      });
    }
  });
}

/** Whether a retry may help. */
export function mayPass({ status, code }: UpstowError): boolean {
  return (
    status === 408 || (status >= 500 && status !== 501) || code === "NETWORK_ERROR" || code === "TIMEOUT"
  );
}

export function toError(response: Response, answer: unknown): UpstowError {
  const { status, headers } = response;
  const retryAfter = Number(headers.get("retry-after")) || undefined;
  const fields = { status, retryAfter, requestId: headers.get("x-request-id") ?? undefined };
  const error = (answer as Partial<ErrorBody> | null | undefined)?.error;
  if (typeof error?.code !== "string") {
    return new UpstowError(`Unexpected response with status ${status}.`, {
      ...fields,
      code: status === 429 ? "RATE_LIMITED" : "UNEXPECTED_ANSWER",
    });
  }
  const { message, ...rest } = error;
  return new UpstowError(message, { ...rest, ...fields, cause: answer });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
