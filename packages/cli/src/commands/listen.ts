import { type Call, type Command, OperatorError, type Result, UsageError } from "../command.ts";
import { getConnection } from "../connection.ts";
import { type Credentials, findCredentials } from "../credentials.ts";
import { createPosition, type Position } from "../listen/position.ts";

const endingSignals = ["SIGINT", "SIGTERM"] as const;

export const listen: Command = {
  name: "listen",
  summary: "Forward the events of the test environment to a server on this machine",
  positionals: [{ name: "url", description: "your own endpoint, such as http://localhost:3000/hook" }],
  options: {
    key: {
      value: "K",
      description: "a test key (svc_test_…); that of UPSTOW_API_KEY or login when left out",
    },
    url: { value: "URL", description: "where the service is; that of UPSTOW_URL or login when left out" },
    replay: { value: "N", description: "begin with the last N events, 0 to 1000" },
  },
  notes: `Nothing has to reach this machine from outside: the command holds a connection to the service. Each event is
signed for your URL, as a delivery is. Started again within a day, it goes on behind the last event that it brought
to this URL; --replay 0 begins with new ones instead. With --json each event is one line. Ctrl-C ends it.`,
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
    onAway: (error: string) => call.note(`${target} does not answer (${error}); waiting for it.`),
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
  const text = `Forwarded ${counts.forwarded} events; ${counts.failed} were answered with an error.`;
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
    if (!isOpen) call.note(`The connection to ${service} is broken; opening it again.`);
    else if (wasOpen === null) call.note(`Ready: events of ${service} go to ${target}`);
    else call.note("Connected again; nothing was missed.");
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
