import type {
  Action,
  BeginAnswer,
  CompleteAnswer,
  ManyAnswer,
  RoutesAnswer,
  StartAnswer,
} from "../handler/protocol.ts";
import { type CallRequest, call, type Fetch } from "../http/call.ts";
import type { ReceivedPart, SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { Hold } from "./hold.ts";
import type { Online } from "./online.ts";

export interface BackendOptions {
  endpoint: string;
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  fetch: Fetch;
  retries: number;
  baseDelayMs: number;
  online: Online;
}

// A queue of many files will hit the service's rate limit eventually, and can wait it out.
const rateLimitWaitMs = 10 * 60 * 1000;

type Body = Action | (() => Action) | undefined;

/** Calls to the application's own endpoint. */
export function createBackend(options: BackendOptions) {
  const { endpoint, fetch, retries, baseDelayMs, online } = options;

  async function ask<Answer>(body: Body, hold?: Hold, signal?: AbortSignal): Promise<Answer> {
    const make = typeof body === "function" ? body : () => body;
    const request: CallRequest = {
      method: body === undefined ? "GET" : "POST",
      url: endpoint,
      headers: {},
      // Includes the service's time and whatever the application does on completion.
      timeoutMs: 60_000,
      signal,
      waitSignal: hold?.signal,
      onWait: hold?.onWait,
      fetch,
      policy: { retries, baseDelayMs, rateLimitWaitMs },
      async before(failures) {
        await online.untilOnline(signal);
        // The session may have been renewed during the wait.
        request.headers = await options.headers();
        // A call that may have been processed is repeated unchanged.
        if (failures === 0) request.body = make();
      },
    };
    return call<Answer>(request);
  }

  /** For calls that can be cancelled at any time. */
  const askStoppable = <Answer>(body: Action, hold: Hold) => ask<Answer>(body, hold, hold.signal);

  return {
    ask,
    routes: () => ask<RoutesAnswer>(undefined),
    begin: (body: Omit<Extract<Action, { action: "begin" }>, "action">, hold: Hold) =>
      ask<BeginAnswer>({ action: "begin", ...body }, hold),
    start: (ticket: string, resume: string | undefined, hold: Hold) =>
      ask<StartAnswer>({ action: "start", ticket, ...(resume === undefined ? {} : { resume }) }, hold),
    /** The list is read again after every wait, because files may have left it. */
    startMany: async (tickets: () => string[], hold: Hold) =>
      (await ask<ManyAnswer<StartAnswer>>(() => ({ action: "startMany", tickets: tickets() }), hold)).answers,
    sign: async (token: string, partNumbers: number[], hold: Hold) =>
      (await askStoppable<{ parts: SignedPart[] }>({ action: "sign", token, partNumbers }, hold)).parts,
    parts: async (token: string, hold: Hold) =>
      (await askStoppable<{ parts: ReceivedPart[] }>({ action: "parts", token }, hold)).parts,
    complete: (token: string, parts: UploadedPart[] | undefined, hold: Hold) =>
      ask<CompleteAnswer>({ action: "complete", token, ...(parts === undefined ? {} : { parts }) }, hold),
    /** A single token uses the singular call. */
    async completeMany(tokens: () => string[], hold: Hold): Promise<ManyAnswer<CompleteAnswer>["answers"]> {
      let [first = "", ...others]: string[] = [];
      const answer = await ask<CompleteAnswer | ManyAnswer<CompleteAnswer>>(() => {
        [first = "", ...others] = tokens();
        return others.length === 0
          ? { action: "complete", token: first }
          : { action: "completeMany", tokens: [first, ...others] };
      }, hold);
      return "answers" in answer ? answer.answers : [answer];
    },
    abort: (token: string, failure: string | undefined) =>
      ask<object>({ action: "abort", token, ...(failure === undefined ? {} : { failure }) }),
  };
}

export type Backend = ReturnType<typeof createBackend>;
