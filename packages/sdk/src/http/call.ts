import { UpstowError } from "../errors.ts";
import type { ErrorBody } from "../wire/errors.ts";
import { backoffMs, longestMs, stoppable, wait } from "./wait.ts";

export type Fetch = typeof globalThis.fetch;

export interface RetryPolicy {
  /** How often a call that failed is repeated. */
  retries: number;
  baseDelayMs: number;
  /** How long a call may wait in all where the service says "too many requests". */
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
  /** Runs before every attempt. */
  before?: () => Promise<void>;
}

/** One JSON call, repeated while a repetition may help. */
export async function call<Answer>(request: CallRequest): Promise<Answer> {
  const { policy, signal } = request;
  let waitedMs = 0;
  for (let attempt = 0; ; ) {
    try {
      await request.before?.();
      return await callOnce<Answer>(request, attempt > 0);
    } catch (error) {
      if (!(error instanceof UpstowError)) throw error;
      const pauseMs = (error.retryAfter ?? 0) * 1000 || backoffMs(attempt, policy.baseDelayMs);
      if (error.code === "RATE_LIMITED") waitedMs += pauseMs;
      else if (!mayPass(error) || attempt++ >= policy.retries) throw error;
      // Who is told to stay away for longer than a call may last hears of it at once.
      if (Math.max(waitedMs, pauseMs - longestMs) > policy.rateLimitWaitMs) throw error;
      // All who were refused at one moment are told the same time; they should not come back at the same moment.
      await wait(pauseMs * (1 + Math.random() / 4), signal);
    }
  }
}

async function callOnce<Answer>(request: CallRequest, isRepeat: boolean): Promise<Answer> {
  const { method, body } = request;
  const { response, text } = await exchange(request);
  const answer = parseJson(text);
  if (response.ok && answer !== undefined) return answer as Answer;
  // The first attempt may have done it before its answer was lost.
  if (method === "DELETE" && body === undefined && isRepeat && response.status === 404)
    return { ok: true } as Answer;
  throw toError(response, answer);
}

function exchange(request: CallRequest): Promise<{ response: Response; text: string }> {
  const { url, method, headers, signal, timeoutMs } = request;
  return stoppable([signal], timeoutMs, async (stop) => {
    // What JSON cannot say is the caller's mistake, and no silence of the service.
    const body = JSON.stringify(request.body);
    try {
      const response = await request.fetch(url, {
        method,
        headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
        body: body ?? null,
        signal: stop.signal,
      });
      return { response, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      const isTimeout = stop.signal.aborted;
      throw new UpstowError(`No answer from ${url}${isTimeout ? ` within ${timeoutMs} ms` : ""}.`, {
        code: isTimeout ? "TIMEOUT" : "NETWORK_ERROR",
        cause,
      });
    }
  });
}

/** Whether another try may help. */
export function mayPass({ status, code }: UpstowError): boolean {
  return status === 408 || status >= 500 || code === "NETWORK_ERROR" || code === "TIMEOUT";
}

export function toError(response: Response, answer: unknown): UpstowError {
  const { status, headers } = response;
  const retryAfter = Number(headers.get("retry-after")) || undefined;
  const fields = { status, retryAfter, requestId: headers.get("x-request-id") ?? undefined };
  const error = (answer as Partial<ErrorBody> | null | undefined)?.error;
  if (typeof error?.code !== "string") {
    return new UpstowError(`Unexpected answer with status ${status}.`, {
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
