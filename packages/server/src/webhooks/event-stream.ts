import { type Environment, EventStreamQuery, LIST_MAX, StreamedEvent } from "@upstow/contract";
import type { WebhookMessageRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import type { ApiApp } from "../http/request-context.ts";
import type { Actor } from "../kernel/actor.ts";
import { AppError, invalid } from "../kernel/errors.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { findKey } from "../projects/api-keys/queries.ts";
import { type Alarm, MESSAGES_CHANNEL } from "./alarm.ts";
import { messageIdOf } from "./enqueue.ts";
import { createOpenStreams } from "./open-streams.ts";

/** How often a stream polls without a notification, and sends a keep-alive to proxies and clients. */
const beatMs = 5_000;
const batchSize = 100;
const reconnectMs = 1_000;

/** The number of the client's last event; the stream continues after it. */
export async function findStart(
  deps: Deps,
  actor: Actor,
  lastEventId: string | undefined,
  last: number,
): Promise<number> {
  const { projectId, environment } = actor;
  const newest = (await deps.db.get(findLastSeq, { projectId, environment }))?.last_seq ?? 0;
  if (lastEventId === undefined || lastEventId === "") return Math.max(0, newest - last);
  if (!/^\d{1,15}$/.test(lastEventId)) throw invalid("Last-Event-ID", "must be the id of a streamed event");
  // After a restore from backup, a client may be ahead of the database; new events must not wait for that number.
  return Math.min(newest, Number(lastEventId));
}

/** Server-sent events until `signal` is aborted or the key is revoked. Nothing is sent on a revoked key. */
export async function* streamEvents(
  deps: Deps,
  actor: Actor,
  after: number,
  alarm: Alarm,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { projectId, environment } = actor;
  let seen = after;
  let sentAt = performance.now();
  const findNews = createImportNews(deps, actor);
  // An id without data is not an event: it only gives the client a position, in case the stream breaks before one.
  yield `retry: ${reconnectMs}\nid: ${after}\n\n`;
  while (!signal.aborted) {
    const wanted = { projectId, environment, after: seen, take: batchSize };
    const [events, news] = await Promise.all([deps.db.all(listEventsAfter, wanted), findNews()]);
    const text = events.map(formatEvent).join("") + news;
    if (text !== "" || performance.now() - sentAt >= beatMs) {
      if (!(await isActive(deps, actor.keyId))) return;
      yield text === "" ? ": alive\n\n" : text;
      sentAt = performance.now();
    }
    seen = events.at(-1)?.seq ?? seen;
    if (events.length < batchSize) await alarm.sleep(Math.max(1, sentAt + beatMs - performance.now()));
  }
}

async function isActive(deps: Deps, keyId: string): Promise<boolean> {
  const key = await deps.db.get(findKey, { id: keyId });
  return key !== null && key.revoked_at === null;
}

type EventRow = Pick<
  WebhookMessageRow,
  "id" | "seq" | "event" | "file_id" | "route_slug" | "body" | "created_at"
>;

function formatEvent(row: EventRow): string {
  const data: StreamedEvent = {
    messageId: messageIdOf(row.id),
    event: row.event,
    fileId: row.file_id,
    routeSlug: row.route_slug,
    createdAt: isoTime(row.created_at),
    body: row.body,
  };
  // JSON has no raw line breaks, so one data line is enough.
  return `id: ${row.seq}\nevent: ${row.event}\ndata: ${JSON.stringify(data)}\n\n`;
}

interface Owned {
  projectId: string;
  environment: Environment;
}

const findLastSeq = statement((q, p: Owned) =>
  q
    .selectFrom("event_sequence")
    .select("last_seq")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

const listEventsAfter = statement((q, p: Owned & { after: number; take: number }) =>
  q
    .selectFrom("webhook_message")
    .select(["id", "seq", "event", "file_id", "route_slug", "body", "created_at"])
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("seq", ">", p.after)
    .orderBy("seq")
    .limit(p.take),
);

const busySec = 60;

/** Events as they are committed, on any instance; `upstow listen` reads this. */
export function eventStreamRoute(app: ApiApp, deps: Deps): void {
  const streams = createOpenStreams();
  app.addHook("onReady", () => deps.db.listen(MESSAGES_CHANNEL, streams.ringAll));
  app.addHook("preClose", () => streams.closeAll());

  app.get(
    "/events/stream",
    {
      exposeHeadRoute: false,
      schema: {
        tags: ["webhooks"],
        summary: "Stream the events of the key's environment",
        description: `Server-sent events. The data of each is JSON with ${Object.keys(StreamedEvent.properties).join(", ")}; body is the text that is signed and delivered. Send the last id seen as Last-Event-ID to resume after it. Imports from a URL send upload.progress and upload.failed, without an id: they are not events to resume after. An id without data says where the stream begins, and comments keep the connection alive.`,
        querystring: EventStreamQuery,
      },
    },
    async ({ actor, query, headers }, reply) => {
      const lastEventId = headers["last-event-id"];
      const after = await findStart(deps, actor, lastEventId?.toString(), query.last ?? 0);
      const stream = streams.open(actor, (alarm, signal) => streamEvents(deps, actor, after, alarm, signal));
      if (stream === null) throw tooManyStreams();
      return (
        reply
          .type("text/event-stream; charset=utf-8")
          .header("cache-control", "no-store")
          // Some proxies delay a response until a buffer is full.
          .header("x-accel-buffering", "no")
          .header("connection", "close")
          .send(stream)
      );
    },
  );
}

function tooManyStreams(): AppError {
  return new AppError(
    "RATE_LIMITED",
    `This key or its account has too many event streams open. Retry after ${busySec} seconds.`,
    {
      headers: { "retry-after": String(busySec) },
    },
  );
}

/** Clocks of instances may differ this much. */
const overlapMs = 5_000;

/**
 * What has changed since the last call about the imports that run, and those that have just failed, as server-sent
 * events without an id. Completed ones have their event.
 */
function createImportNews(
  { db, now }: Pick<Deps, "db" | "now">,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
): () => Promise<string> {
  let failedSince = now();
  let told = new Map<string, string>();
  return async () => {
    const lookedAt = now();
    const rows = await db.all(listMoving, { projectId, environment, failedSince });
    const texts = new Map(rows.map((row) => [row.fileId, formatNews(row)]));
    const news = [...texts].filter(([fileId, text]) => told.get(fileId) !== text);
    failedSince = Math.max(failedSince, lookedAt - overlapMs);
    told = texts;
    return news.map(([, text]) => text).join("");
  };
}

type Moving = NonNullable<(typeof listMoving)["types"]>["row"];

function formatNews({ fileId, key, receivedBytes, totalBytes, failure, message }: Moving): string {
  if (failure === null)
    return format("upload.progress", { fileId, key, progress: { receivedBytes, totalBytes } });
  return format("upload.failed", { fileId, key, failure: { reason: failure, message: message ?? "" } });
}

const format = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`;

interface Watched {
  projectId: string;
  environment: Environment;
  failedSince: number;
}

const listMoving = statement((q, p: Watched) =>
  q
    .selectFrom("file_import")
    .innerJoin("file", "file.id", "file_import.file_id")
    .select([
      "file.id as fileId",
      "file.key",
      "file_import.received_bytes as receivedBytes",
      "file_import.total_bytes as totalBytes",
      "file_import.failure",
      "file_import.message",
    ])
    .where("file_import.project_id", "=", p.projectId)
    .where("file.environment", "=", p.environment)
    .where((where) =>
      where.or([
        where("file_import.slot", "is not", null),
        where("file_import.failed_at", ">=", p.failedSince),
      ]),
    )
    .orderBy("file.id")
    .limit(LIST_MAX),
);
