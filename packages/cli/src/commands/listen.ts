import { type Call, type Command, OperatorError, type Result, UsageError } from "../command.ts";
import { getConnection } from "../connection.ts";
import { type Credentials, findCredentials } from "../credentials.ts";
import { createPosition, type Position } from "../listen/position.ts";

const endingSignals = ["SIGINT", "SIGTERM"] as const;

export const listen: Command = {
  name: "listen",
  summary: "Forward events of the test environment to a local server",
  positionals: [{ name: "url", description: "your own endpoint, such as http://localhost:3000/hook" }],
  options: {
    key: {
      value: "K",
      description: "a test key, svc_test_… (default: UPSTOW_API_KEY, or the one used to log in)",
    },
    url: { value: "URL", description: "the service's URL (default: UPSTOW_URL, or the one used to log in)" },
    replay: { value: "N", description: "start with the last N events, 0 to 1000" },
  },
  notes: `This machine need not be reachable: the command connects to the service and waits for events. Each event is
signed for your URL, like a webhook delivery. Restarted within a day, it continues after the last event forwarded
to this URL; --replay 0 starts with new events instead. With --json, each event is one line. Ctrl-C stops it.`,
  async run(call) {
    const target = readTarget(call.positionals[0] ?? "");
    const replay = readReplay(call.options.find("replay"));
    const credentials = readCredentials(call);
    const stop = new AbortController();
    const end = () => stop.abort();
    for (const signal of endingSignals) call.signals.once(signal, end);
    try {
      return await forwardAll(call, { target, replay, credentials, signal: stop.signal });
    } finally {
      for (const signal of endingSignals) call.signals.off(signal, end);
    }
  },
};

interface Listening {
  target: string;
  replay: number | null;
  credentials: Credentials;
  signal: AbortSignal;
}

async function forwardAll(call: Call, { target, replay, credentials, signal }: Listening): Promise<Result> {
  const { createUpstow } = await import("@upstow/sdk");
  const { forwardEvent } = await import("../listen/forward-event.ts");
  const { toJson, toText } = await import("../listen/describe.ts");
  const { createSigningKey } = await import("../listen/signing-key.ts");
  const upstow = createUpstow({ baseUrl: credentials.url, apiKey: credentials.apiKey });
  const keys = await upstow.webhooks.signingKeys.get();
  const position = createPosition(call.env, credentials, target);
  const forwarding = {
    target,
    signal,
    getSigningKey: createSigningKey(upstow, keys.current),
    onAway: (error: string) => call.note(`${target} is not responding (${error}); waiting for it.`),
  };
  const tellConnection = createConnectionNotes(call, credentials.url, target);
  const onConnection = (lastEventId?: string) => {
    if (lastEventId !== undefined) position.save(lastEventId);
    tellConnection(lastEventId !== undefined);
  };
  const settings = [
    `UPSTOW_SIGNING_KEY=${keys.current}`,
    `UPSTOW_NEXT_SIGNING_KEY=${keys.next}`,
    `UPSTOW_WEBHOOK_URL=${target}`,
  ];
  call.note(`Verify with ${settings.join(" ")}`);
  const counts = { forwarded: 0, failed: 0 };
  try {
    const start = findStart(position, replay);
    for await (const event of upstow.events.stream({ ...start, signal, onConnection })) {
      const { attempt, outcome } = await forwardEvent(event, forwarding);
      counts[outcome.error === null ? "forwarded" : "failed"] += 1;
      call.print({ json: toJson(event, attempt, outcome), text: toText(event, outcome) });
      position.save(event.id);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const text = `Forwarded ${counts.forwarded} events; ${counts.failed} returned an error.`;
  return { json: counts, text };
}

function findStart(position: Position, replay: number | null): { last: number } | { lastEventId: string } {
  if (replay !== null) return { last: replay };
  const lastEventId = position.find();
  return lastEventId === null ? { last: 0 } : { lastEventId };
}

function createConnectionNotes(call: Call, service: string, target: string): (isOpen: boolean) => void {
  let wasOpen: boolean | null = null;
  return (isOpen) => {
    if (isOpen === wasOpen) return;
    if (!isOpen) call.note(`Lost the connection to ${service}; reconnecting.`);
    else if (wasOpen === null) call.note(`Ready: forwarding events from ${service} to ${target}`);
    else call.note("Reconnected; no events were missed.");
    wasOpen = isOpen;
  };
}

function readTarget(text: string): string {
  if (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : "")) return text;
  throw new UsageError(`<url> must be a URL such as http://localhost:3000/hook, not "${text}".`);
}

function readReplay(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,4}$/.test(text) || Number(text) > 1000) {
    throw new UsageError(`--replay must be a whole number from 0 to 1000, not "${text}".`);
  }
  return Number(text);
}

/** Live events describe customers' uploads, so they stay off developers' machines. */
function readCredentials({ env, options }: Call): Credentials {
  const key = options.find("key");
  // A key without a URL belongs to the service the user is signed in to.
  const savedUrl = key === undefined ? undefined : findCredentials(env)?.url;
  const given = {
    UPSTOW_URL: options.find("url") ?? (env["UPSTOW_URL"] || savedUrl),
    UPSTOW_API_KEY: key ?? env["UPSTOW_API_KEY"],
  };
  const credentials = getConnection({ env: { ...env, ...given } });
  if (credentials.apiKey.startsWith("svc_test_")) return credentials;
  throw new OperatorError(
    "UNAUTHORIZED",
    "Only test events are forwarded, and this is not a test key. Pass one with --key svc_test_…",
  );
}
