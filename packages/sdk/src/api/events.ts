import { parseJson, toError } from "../http/call.ts";
import { backoffMs, onAbort, unhold, wait } from "../http/wait.ts";
import type { StreamedEvent } from "../wire/webhooks.ts";
import { apiUrl, type Connection } from "./request.ts";

export interface EventsOptions {
  signal?: AbortSignal;
  /** Resume after this event. */
  lastEventId?: string;
  /** Start with this many past events. */
  last?: number;
  /** Called with the last event seen when the stream opens, and without one when it broke and reconnects. */
  onConnection?: (lastEventId?: string) => void;
}

export interface ReceivedEvent extends StreamedEvent {
  /** Pass it as `lastEventId` to resume from here. */
  id: string;
}

// The service sends a keep-alive every five seconds.
const silenceMs = 30_000;

/**
 * Events as they happen. A broken connection is reopened after the last event seen. An unheld stream does not keep the
 * process alive; its `fetch` has to make sure of that too.
 */
export async function* streamEvents(
  connection: Connection,
  { signal, lastEventId, last, onConnection, isUnheld = false }: EventsOptions & { isUnheld?: boolean } = {},
): AsyncGenerator<ReceivedEvent, void> {
  let position: object = lastEventId === undefined ? { last } : { lastEventId };
  for (let failures = 0; ; failures++) {
    try {
      for await (const event of readOnce(connection, position, signal, isUnheld)) {
        failures = 0;
        position = { lastEventId: event.id };
        // A stream starts by sending its position, so nothing is missed if it breaks before the first event.
        if (event.body) yield event;
        else onConnection?.(event.id);
      }
    } catch (error) {
      signal?.throwIfAborted();
      // A rejection is final; any other failure may be temporary.
      const { status = 0 } = error as { status?: number };
      if (status >= 400 && status < 500 && status !== 429) throw error;
    }
    onConnection?.();
    // At most 8 seconds, because listeners expect events promptly.
    await wait(backoffMs(Math.min(failures, 4), 500), signal, isUnheld);
  }
}

async function* readOnce(
  { baseUrl, apiKey, fetch }: Connection,
  { lastEventId, last }: EventsOptions,
  signal: AbortSignal | undefined,
  isUnheld: boolean,
): AsyncGenerator<ReceivedEvent> {
  const end = new AbortController();
  const stop = () => end.abort();
  const leave = onAbort(signal, stop);
  const watch = () => {
    const timer = setTimeout(stop, silenceMs);
    if (isUnheld) unhold(timer);
    return timer;
  };
  let watchdog = watch();
  try {
    const response = await fetch(apiUrl(baseUrl, "/events/stream", { last }), {
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
      signal: end.signal,
    });
    if (!response.ok) throw toError(response, parseJson(await response.text()));
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of response.body ?? []) {
      clearTimeout(watchdog);
      const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      yield* blocks.flatMap(parseEvent);
      // Started only now: time the caller spends on an event is not silence of the service.
      watchdog = watch();
    }
  } finally {
    clearTimeout(watchdog);
    leave();
    stop();
  }
}

function parseEvent(block: string): ReceivedEvent[] {
  const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s)));
  return fields.id ? [{ id: fields.id, ...JSON.parse(fields.data ?? "{}") }] : [];
}
