import { type ReceivedEvent, streamEvents } from "../api/events.ts";
import type { Connection } from "../api/request.ts";
import { isDevelopment, readConnection, readEnvironment } from "../api/settings.ts";
import type { Fetch } from "../http/call.ts";
import { unhold } from "../http/wait.ts";
import { readPayload, type WebhookOptions } from "./receive-delivery.ts";

/** Global to the process: frameworks reload modules when a file changes, and the stream has to survive that. */
interface Development {
  receivers: Map<string, WebhookOptions>;
  isOpen: boolean;
}

const place = Symbol.for("upstow.development");

function getDevelopment(): Development {
  const all = globalThis as { [place]?: Development };
  all[place] ??= { receivers: new Map(), isOpen: false };
  return all[place];
}

/** In development, the handler receives events over a stream, because no service can reach a developer's machine. */
export function receiveInDevelopment(options: WebhookOptions): void {
  if (!isDevelopment() || findUnheldFetch() === null) return;
  // A reloaded handler replaces its previous instance.
  getDevelopment().receivers.set(options.url ?? "", options);
  // Deferred, because programs may load their environment from a file after their imports.
  unhold(setTimeout(() => streamInDevelopment(readConnection({}, 0))));
}

/**
 * Opens the stream once, if there is a handler for it. Frameworks that load handlers on their first call are made to
 * load it by a request to `UPSTOW_WEBHOOK_URL`.
 */
export function streamInDevelopment(read: () => Connection): void {
  const development = getDevelopment();
  if (!isDevelopment() || development.isOpen) return;
  if (development.receivers.size === 0 && findLocalUrl() === null) return;
  const fetch = findUnheldFetch();
  const connection = attempt(read);
  if (fetch === null || connection === null || !isForDevelopers(connection)) return;
  development.isOpen = true;
  // Rejected, or an instance without streams: deliveries still arrive the usual way.
  forward({ ...connection, fetch }, development).catch(() => {});
}

async function forward(connection: Connection, { receivers }: Development): Promise<void> {
  let isTold = false;
  const onConnection = (lastEventId?: string) => {
    if (lastEventId === undefined || isTold) return;
    isTold = true;
    // biome-ignore lint/suspicious/noConsole: who debugs a webhook has to know where its events come from
    console.info(
      `upstow: in development, events from ${connection.baseUrl} go directly to your webhook handlers. Nothing else is needed.`,
    );
  };
  for await (const event of streamEvents(connection, { last: 0, onConnection, isUnheld: true })) {
    const url = receivers.size === 0 ? findLocalUrl() : null;
    if (url !== null) await globalThis.fetch(url).catch(() => {});
    for (const options of receivers.values()) await receive(options, event, connection.apiKey);
  }
}

async function receive(options: WebhookOptions, event: ReceivedEvent, apiKey: string): Promise<void> {
  try {
    await options.onEvent({
      ...readPayload(event.body),
      type: event.event,
      messageId: event.messageId,
      attempt: 1,
      signedAt: new Date(event.createdAt),
      event: event.event === "test" ? "webhook.test" : event.event,
      environment: isTestKey(apiKey) ? "test" : "live",
    });
  } catch (error) {
    // biome-ignore lint/suspicious/noConsole: an error that nobody sees costs somebody a day
    (options.onError ?? ((thrown) => console.error("webhook handler:", thrown)))(error);
  }
}

const isTestKey = (apiKey: string) => apiKey.startsWith("svc_test_");

/** Live events belong to customers, so they come only from an instance on this machine, and only in development. */
function isForDevelopers({ apiKey, baseUrl }: Connection): boolean {
  const isDeclared = readEnvironment()?.["NODE_ENV"] === "development";
  return isTestKey(apiKey) || (isDeclared && isLoopback(baseUrl));
}

function isLoopback(url: string): boolean {
  return /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
}

function findLocalUrl(): string | null {
  const url = readEnvironment()?.["UPSTOW_WEBHOOK_URL"] ?? "";
  return URL.canParse(url) && isLoopback(url) ? url : null;
}

function attempt<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** A fetch whose connection does not keep the process alive; null where there are no processes, as on the edge. */
function findUnheldFetch(): Fetch | null {
  // Cloudflare emulates Node, but allows no timers while modules load. Next's edge runtime has the function, and throws.
  if (globalThis.navigator?.userAgent === "Cloudflare-Workers") return null;
  const http = attempt(() => globalThis.process?.getBuiltinModule?.("node:http")) ?? null;
  const https = attempt(() => globalThis.process?.getBuiltinModule?.("node:https")) ?? null;
  if (http === null || https === null) return null;
  return (given, init) =>
    new Promise((resolve, reject) => {
      const { request } = String(given).startsWith("https:") ? https : http;
      const headers = init?.headers as Record<string, string>;
      const asked = request(String(given), { headers, signal: init?.signal ?? undefined, agent: false });
      asked.on("socket", (socket) => socket.unref());
      asked.on("error", reject);
      asked.on("response", (incoming) => {
        const { statusCode: status = 0 } = incoming;
        const text = async () => (await incoming.toArray()).join("");
        const answer = { ok: status === 200, status, headers: new Headers(), body: incoming, text };
        resolve(answer as unknown as Response);
      });
      asked.end();
    });
}
