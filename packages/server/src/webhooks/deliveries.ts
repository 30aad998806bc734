import {
  DELIVERY_SCAN_MAX_ROWS,
  type Delivery,
  type DeliveryDetail,
  type DeliveryQuery,
  type DeliveryStatus,
} from "@upstow/contract";
import type { WebhookAttemptRow, WebhookMessageRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { encodeCursor, endPage, parseMoment, startPage } from "../http/paging.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { admitSearch } from "../kernel/fair-turns.ts";
import { firstIdAt } from "../kernel/ids.ts";
import { isoTime } from "../kernel/iso-time.ts";
import {
  type DeliverySpan,
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

export interface DeliveryFilter extends DeliverySpan {
  status: DeliveryStatus | null;
  routeSlug: string | null;
}

export async function listOwnDeliveries(deps: Deps, actor: Actor, query: DeliveryQuery) {
  const page = startPage(query);
  const filter = filterOf(actor, query);
  if (page.before < filter.before) filter.before = page.before;
  const { rows, scannedTo } =
    query.fileId === undefined
      ? await findDeliveries(deps, actor, filter, page.take)
      : { rows: await findOfFile(deps, filter, query.fileId), scannedTo: null };
  const { shown, nextCursor, hasMore } = endPage(rows.slice(0, page.take), page.take);
  const deliveries = shown.map(toDelivery);
  if (scannedTo === null) return { deliveries, nextCursor, hasMore };
  return { deliveries, nextCursor: encodeCursor(scannedTo), hasMore: true };
}

export function filterOf(
  { projectId, environment }: Actor,
  wanted: { status?: DeliveryStatus; routeSlug?: string; since?: string; until?: string },
): DeliveryFilter {
  const { status = null, routeSlug = null } = wanted;
  return { projectId, environment, ...deliveryBounds(wanted), status, routeSlug };
}

/** Deliveries that can be read without skipping others. */
export const indexFor = ({ status }: DeliveryFilter) => (status === "dead" ? "dead" : "any");

export const isWanted = (
  { status, routeSlug }: DeliveryFilter,
  row: Pick<DeliveryRow, "state" | "route_slug">,
): boolean =>
  (status === null || statusOf(row.state) === status) && (routeSlug === null || row.route_slug === routeSlug);

/**
 * Rows that one statement reads: at most about 10 ms on SQLite if every payload is as long as it may be. A page that
 * takes several of them lets other accounts have their turn.
 */
export const DELIVERIES_AT_ONCE = 500;

/** `scannedTo` is the id to continue below if a call ended before the page was full. */
async function findDeliveries(
  { db, turns }: Deps,
  { accountId }: Actor,
  filter: DeliveryFilter,
  take: number,
): Promise<{ rows: DeliveryRow[]; scannedTo: string | null }> {
  const statement = listDeliveries[indexFor(filter)];
  const isPlain = filter.routeSlug === null && (filter.status === null || filter.status === "dead");
  if (isPlain) return { rows: await db.all(statement, { ...filter, take }), scannedTo: null };
  admitSearch(turns, accountId);
  const rows: DeliveryRow[] = [];
  let { before } = filter;
  for (let seen = 0; seen < DELIVERY_SCAN_MAX_ROWS; seen += DELIVERIES_AT_ONCE) {
    const span = { ...filter, before, take: DELIVERIES_AT_ONCE };
    const read = await turns.take(accountId, () => db.all(statement, span));
    rows.push(...read.filter((row) => isWanted(filter, row)));
    const last = read.at(-1);
    if (rows.length >= take || last === undefined || read.length < DELIVERIES_AT_ONCE) {
      return { rows, scannedTo: null };
    }
    before = last.id;
  }
  return { rows, scannedTo: before };
}

async function findOfFile(deps: Deps, filter: DeliveryFilter, fileId: string): Promise<DeliveryRow[]> {
  const rows = await deps.db.all(listDeliveriesOfFile, { ...filter, fileId });
  return rows.filter((row) => row.id >= filter.from && row.id < filter.before && isWanted(filter, row));
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

function statusOf(state: WebhookMessageRow["state"]): DeliveryStatus {
  return state === "delivered" || state === "dead" ? state : "pending";
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    messageId: messageIdOf(row.id),
    event: row.event,
    fileId: row.file_id,
    routeSlug: row.route_slug,
    url: row.url ?? "",
    status: statusOf(row.state),
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
