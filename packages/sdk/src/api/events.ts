import { parseJson, toError } from "../http/call.ts";
import { backoffMs, onAbort, unhold, wait } from "../http/wait.ts";
import type { StreamedEvent } from "../wire/webhooks.ts";
import { apiUrl, type Connection } from "./request.ts";

export interface EventsOptions {
  signal?: AbortSignal;
  /** Go on behind this event. */
  lastEventId?: string;
  /** Begin with this many past events. */
  last?: number;
  /** Told when the stream is open, with the event that it goes on behind; without, when it broke and is reopened. */
  onConnection?: (lastEventId?: string) => void;
}

export interface ReceivedEvent extends StreamedEvent {
  /** Give it as `lastEventId` to go on from here. */
  id: string;
}

// The service sends a sign of life every five seconds.
const silenceMs = 30_000;

/**
 * Events as they happen. A connection that breaks is opened again behind the last event seen. What is unheld does not
 * keep the process alive; its `fetch` has to see to that too.
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
        // A stream begins with where it begins, so that nothing is missed if it breaks before the first event.
        if (event.body) yield event;
        else onConnection?.(event.id);
      }
    } catch (error) {
      signal?.throwIfAborted();
      // A refusal stays one; whatever else broke the connection may be over soon.
      const { status = 0 } = error as { status?: number };
      if (status >= 400 && status < 500 && status !== 429) throw error;
    }
    onConnection?.();
    // Up to 8 seconds: whoever listens wants to hear again soon.
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
      // Only now: whoever takes long over an event has not been met with silence.
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
