import type { Delivery, DeliveryDetail, DeliveryQuery, DeliveryStatus } from "@upstow/contract";
import type { WebhookAttemptRow, WebhookMessageRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { endPage, parseMoment, startPage } from "../http/paging.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { firstIdAt } from "../kernel/ids.ts";
import { isoTime } from "../kernel/iso-time.ts";
import {
  type DeliveryFilter,
  findDelivery,
  listAttempts,
  listDeliveries,
  listDeliveriesOfFile,
} from "./delivery-queries.ts";
import { messageIdOf } from "./enqueue.ts";

type DeliveryRow = Pick<
  WebhookMessageRow,
  "id" | "event" | "file_id" | "route_slug" | "url" | "state" | "attempt_count" | "run_at" | "created_at"
>;

export async function listOwnDeliveries(deps: Deps, actor: Actor, query: DeliveryQuery) {
  const page = startPage(query);
  const bounds = deliveryBounds(query);
  const filter: DeliveryFilter = {
    projectId: actor.projectId,
    environment: actor.environment,
    from: bounds.from,
    before: page.before < bounds.before ? page.before : bounds.before,
    routeSlug: query.routeSlug ?? null,
  };
  const status = query.status ?? "any";
  const rows =
    query.fileId === undefined
      ? await deps.db.all(listDeliveries[status], { ...filter, take: page.take })
      : await findOfFile(deps, filter, status, query.fileId);
  const { shown, nextCursor, hasMore } = endPage(rows.slice(0, page.take), page.take);
  return { deliveries: shown.map(toDelivery), nextCursor, hasMore };
}

async function findOfFile(
  deps: Deps,
  filter: DeliveryFilter,
  status: DeliveryStatus | "any",
  fileId: string,
): Promise<DeliveryRow[]> {
  const rows = await deps.db.all(listDeliveriesOfFile, { ...filter, fileId });
  return rows.filter(
    (row) =>
      row.id >= filter.from &&
      row.id < filter.before &&
      (filter.routeSlug === null || row.route_slug === filter.routeSlug) &&
      (status === "any" || toDelivery(row).status === status),
  );
}

export async function getDelivery(deps: Deps, actor: Actor, id: string): Promise<DeliveryDetail> {
  const { projectId, environment } = actor;
  const row = await deps.db.get(findDelivery, { id, projectId, environment });
  if (row === null) throw notFound("Delivery");
  const attempts = await deps.db.all(listAttempts, { messageId: id });
  return { ...toDelivery(row), payload: JSON.parse(row.body), attempts: attempts.reverse().map(toAttempt) };
}

/** Ids sort by creation time, so times become id bounds; both ends are inclusive. */
export function deliveryBounds(range: { since?: string; until?: string }): { from: string; before: string } {
  return {
    from: firstIdAt(range.since === undefined ? 0 : parseMoment("since", range.since)),
    before: range.until === undefined ? "~" : firstIdAt(parseMoment("until", range.until) + 1),
  };
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    messageId: messageIdOf(row.id),
    event: row.event,
    fileId: row.file_id,
    routeSlug: row.route_slug,
    url: row.url ?? "",
    status: row.state === "delivered" || row.state === "dead" ? row.state : "pending",
    attemptCount: row.attempt_count,
    nextAttemptAt: row.state === "ready" ? isoTime(row.run_at) : null,
    createdAt: isoTime(row.created_at),
  };
}

function toAttempt(row: WebhookAttemptRow) {
  return {
    number: row.number,
    at: isoTime(row.started_at),
    durationMs: row.duration_ms,
    statusCode: row.status_code,
    error: row.error,
    response: row.response,
  };
}
