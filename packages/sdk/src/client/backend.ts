import type { Action, BeginAnswer, CompleteAnswer, RoutesAnswer, StartAnswer } from "../handler/protocol.ts";
import { type CallRequest, call, type Fetch } from "../http/call.ts";
import type { ReceivedPart, SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { Online } from "./online.ts";

export interface BackendOptions {
  endpoint: string;
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  fetch: Fetch;
  retries: number;
  baseDelayMs: number;
  online: Online;
}

// A queue of many files meets the rate limit of the service sooner or later; waiting it out is what a queue is for.
const rateLimitWaitMs = 10 * 60 * 1000;

/** The calls to the application's own endpoint. */
export function createBackend(options: BackendOptions) {
  const { endpoint, fetch, retries, baseDelayMs, online } = options;

  async function ask<Answer>(body: Action | undefined, signal?: AbortSignal): Promise<Answer> {
    const request: CallRequest = {
      method: body === undefined ? "GET" : "POST",
      url: endpoint,
      headers: {},
      body,
      // Behind it are the service and whatever the application does on completion.
      timeoutMs: 60_000,
      signal,
      fetch,
      policy: { retries, baseDelayMs, rateLimitWaitMs },
      async before() {
        await online.untilOnline(signal);
        // A sign-in may have been renewed during the wait.
        request.headers = await options.headers();
      },
    };
    return call<Answer>(request);
  }

  return {
    routes: () => ask<RoutesAnswer>(undefined),
    begin: (body: Omit<Extract<Action, { action: "begin" }>, "action">) =>
      ask<BeginAnswer>({ action: "begin", ...body }),
    start: (ticket: string, resume: string | undefined) =>
      ask<StartAnswer>({ action: "start", ticket, ...(resume === undefined ? {} : { resume }) }),
    sign: async (token: string, partNumbers: number[], signal: AbortSignal) =>
      (await ask<{ parts: SignedPart[] }>({ action: "sign", token, partNumbers }, signal)).parts,
    parts: async (token: string, signal: AbortSignal) =>
      (await ask<{ parts: ReceivedPart[] }>({ action: "parts", token }, signal)).parts,
    complete: (token: string, parts: UploadedPart[] | undefined) =>
      ask<CompleteAnswer>({ action: "complete", token, ...(parts === undefined ? {} : { parts }) }),
    abort: (token: string, failure: string | undefined) =>
      ask<object>({ action: "abort", token, ...(failure === undefined ? {} : { failure }) }),
  };
}

export type Backend = ReturnType<typeof createBackend>;
